import { CONFIG_LISTING } from "./dangerous-config.ts";
import { quoted } from "./shell-words.ts";

/** Lists the content of `.gitmodules` as configuration. Git reads it from the first of these sources that exists. */
export const LIST_MODULES = `
for source in --file=.gitmodules --blob=:.gitmodules --blob=HEAD:.gitmodules; do
  git config "$source" --list --null --show-origin 2>/dev/null
done
exit 0`;

/** Lists the configuration of each submodule that is checked out, and of those inside it, a few levels deep. */
const WALK = `
git ls-files --stage -z 2>/dev/null | sed -z -n 's/^160000 [^\\t]*\\t//p' |
  LEVEL=x$LEVEL xargs -0 -r -n 1 /bin/sh -c '
    [ -L "./$1" ] || [ ! -e "./$1/.git" ] || [ "$LEVEL" = xxxxx ] || ! cd "./$1" || {
      git ${CONFIG_LISTING.join(" ")}
      eval "$WALK"
    }
    exit 0' sh
[ "$?" = 0 ]`;

/**
 * Lists the configuration of all submodules together.
 *
 * SECURITY: to find out whether a submodule has changed, git starts another git in it, which reads the configuration
 * there. It gets the same options, so the overrides apply there too. If the tools that the script needs were missing,
 * it would find nothing, which must not look like "no submodules".
 */
export const LIST_SUBMODULES = `sed -z -n p < /dev/null && xargs -0 -r true < /dev/null || exit 1
WALK=${quoted(WALK)}; export WALK; eval "$WALK"`;
