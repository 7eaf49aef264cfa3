/**
 * Script that maintains a cache. It runs in a sandbox with nothing but the cache, so names and links in it, however
 * they were made, cannot make it measure or remove anything else. First it restores access to directories that a
 * program closed to itself.
 *
 * `measure` prints the size in kilobytes. `shrink KB UNITS` first removes the least recently changed units, until at most KB are left. A unit is an entry of the second level, such as `.cache/pip`: a cache that lacks half of its files is broken, one that is gone is rebuilt. With more units than UNITS, and for `empty`, everything is removed. Units are identified by inode number, so that names are never interpreted. The inner braces are separated because the outer `find` would substitute them.
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
