/**
 * What is done to a cache, by a program inside a sandbox that has nothing else: however names and links in it were made,
 * there is nothing beside it to be measured or removed. Directories that a program closed to itself are opened first.
 *
 * `measure` prints how many kilobytes it holds. `shrink KB UNITS` first removes what was not changed for the longest
 * time, until at most so much is left. The unit is an entry of the second level, such as `.cache/pip`: a cache without
 * half of its files is broken, one that is gone is made anew. With more units than that, and for `empty`, all goes.
 * Units are known by their number in the file system, so that no name is ever read as anything else. The inner braces
 * are apart because the outer `find` would fill them in.
 */
export const CACHE_SCRIPT = `
cd "$HOME" || exit 1
size() { du -skx "$1" 2>/dev/null | cut -f 1; }
units() { find . -xdev -mindepth 1 -maxdepth 2 \\( -path './*/*' -o ! -type d \\) "$@"; }
empty() { find . -xdev -mindepth 1 -maxdepth 1 -exec rm -rf {} +; }
find . -xdev -type d ! -perm -u=rwx -exec chmod u+rwx {} \\; 2>/dev/null
case "$1" in
  empty) empty;;
  shrink)
    if [ "$(units -exec stat -c %i {} + | wc -l)" -gt "$3" ]; then empty; else
      units -exec sh -c 'for unit; do
        changed=$(find "$unit" -xdev -exec stat -c %Z "{""}" + | sort -n | tail -n 1)
        echo "$changed $(du -skx "$unit" | cut -f 1) $(stat -c %i "$unit")"
      done' sh {} + | sort -n > /tmp/units
      left=$(size .)
      while [ "$left" -gt "$2" ] && read -r changed kilobytes number; do
        find . -xdev -mindepth 1 -maxdepth 2 -inum "$number" -exec rm -rf {} +
        left=$((left - kilobytes))
      done < /tmp/units
    fi;;
esac
size .
`;
