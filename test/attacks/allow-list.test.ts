import assert from "node:assert/strict";
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { codeOf, serveKernel } from "./served-kernel.ts";

/** Commands that a rule lets run without asking, as rules know them. */
const ALLOWED = [
  "git log",
  "git status",
  "git diff",
  "ls",
  "echo",
  "find",
  "rg",
  "cat",
  "sed",
  "npm run test",
  "base64",
  "man",
];

/**
 * What a rule by list asks of the facts (docs/shell-commands.md): everything literal, no interpreter, nothing told to
 * write, no file opened by the shell, nothing sent elsewhere first, and each program on the list.
 */
const RULE = `
@id("listed")
@approve("none")
permit(principal, action == Action::"shell_exec", resource)
when {
  context.command.literal &&
  !context.command.interpreter &&
  !context.command.writes &&
  !context.command.redirects &&
  !context.command.changes_directory &&
  ${JSON.stringify(ALLOWED)}.containsAll(context.command.heads)
};
@id("asked")
@approve("human")
permit(principal, action == Action::"shell_exec", resource)
when { context.command.literal && context.command.heads == ["touch"] };
@id("echo") permit(principal, action == Action::"echo", resource);
`;

const kernel = await serveKernel({
  configuration: "timeouts: { approval_ms: 50, approval_wait_ms: 600000 }\n",
  // The default rules would allow, or ask about, more than these.
  prepare: async ({ home }) => {
    await writeFile(join(home, "policy", "default.cedar"), RULE);
  },
});
after(() => kernel.stop());
const UNTOUCHED = ["x", "a", "f"].map((name) => join(kernel.home.workspace, name));
for (const path of UNTOUCHED) await writeFile(path, "untouched");

const run = async (command: string): Promise<string> =>
  codeOf(await kernel.call("shell_exec", JSON.stringify({ command })));

const nested = (count: number, last: string): string => `${"env ".repeat(count)}${last}`;

/** Each line of what must never run by itself, with the commands it stands for. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "a command after &&": ["git log && rm -rf /"],
  "a command after a semicolon": ["git log; rm x"],
  "a command after ||": ["git log || rm x"],
  "a shell at the end of a pipe": ["git log | sh", "git log | bash -s"],
  "a command after &": ["git log & rm x"],
  "what no shell can parse": ["git log &&& rm x", "git log ;; rm x", "(ls", "echo 'x"],
  "a longer name than the rule's": ["npm run test-evil", "git logger", "lsof"],
  "a substitution": ["echo $(rm x)"],
  "a substitution in backquotes": ["echo `rm x`"],
  "a substitution in a substitution": ["echo $(ls $(rm x))"],
  "a process substitution": ["diff <(git log) <(rm x)", "cat <(rm x)"],
  "a subshell": ["(rm x)"],
  "a group": ["{ rm x; }"],
  "a condition": ["if true; then rm x; fi"],
  "a loop over words": ["for t in a; do rm $t; done"],
  "a loop without end": ["while :; do rm x; done"],
  "a choice": ["case a in a) rm x;; esac"],
  "a negation": ["! rm x"],
  "a second line": ["ls\nrm x"],
  "a token that goes on in the next line": ["ls\\\nrm x", "r\\\nm x", "ls &\\\n& rm x"],
  "a here-document that smuggles": ["cat <<'E'\nE\nrm x\nE", "cat <<-E\n\tE\nrm x", "cat <<A <<B\nA\nrm x\nB\nrm y"],
  "a here-string given to a shell": ["sh <<< 'rm x'", "bash <<< rm"],
  "quotes inside a word": ["r''m x", '"r"m x', "r\\m x", "$'\\x72m' x", '$"rm" x'],
  "a separator made of an expansion": ["cat${IFS}/etc/passwd"],
  "a pattern for a program": ["/bin/r? x"],
  "a variable for a program": ["cmd=rm; $cmd x"],
  eval: ['eval "rm x"'],
  "a file that is sourced": [". ./x", "source x"],
  "a trap": ["trap 'rm x' EXIT"],
  "an alias or a function in the place of a program": ["alias ls=rm", "ls() { rm x; }; ls"],
  "a variable that changes what programs do": [
    "export PATH=/tmp:$PATH; ls",
    "export GIT_PAGER=./x; git log",
    "typeset PATH=/tmp",
    "declare -x PATH=/tmp",
  ],
  "a variable in front of a program": ["LD_PRELOAD=./x ls", "GIT_SSH_COMMAND=./x git fetch", "BASH_ENV=x bash", "X=1"],
  "a program in a wrapper": [
    ..."env sudo watch ionice setsid nice nohup command builtin exec busybox".split(" ").map((name) => `${name} rm x`),
    "timeout 5 rm x",
    "echo x | xargs rm",
    nested(9, "rm x"),
  ],
  "a redirection": [
    "ls > ~/.bashrc",
    ...">> >| &> 2> >& <".split(" ").map((operator) => `ls ${operator}x`),
    "exec 3<>/dev/tcp/host/80",
    "cat < /dev/udp/host/80",
  ],
  "find that runs, deletes or writes": [
    ..."-exec -execdir -ok -okdir".split(" ").map((option) => `find . ${option} sh -c x \\;`),
    ..."-delete -fprint -fls -fprintf".split(" ").map((option) => `find . ${option} f`),
  ],
  "rg that runs a program": ["rg --pre cmd x", "rg --pre=cmd x", "rg --hostname-bin=x y", "rg -z x"],
  "base64 that writes a file": ["base64 -o f", "base64 -ofile", "base64 --output=f"],
  "awk that runs a program": ["awk 'BEGIN{system(\"x\")}'"],
  "git that runs a program or looks elsewhere": [
    "git -c core.fsmonitor=x status",
    "git -c alias.x=!cmd x",
    "git -c core.sshCommand=x fetch",
    "git --upload-pack=cmd fetch",
    "git clone 'ext::sh -c x'",
    "git grep -O x",
    "git diff --ext-diff",
    "git log --textconv",
    "git -C /other status",
    "git --git-dir=x status",
    "git --exec-path=. status",
    "git difftool",
    "git rebase -x cmd",
  ],
  "copies by way of a program": ["ssh -o ProxyCommand=x h", "scp -S x a b", "rsync -e x a b"],
  "readers that run programs": ["man -P x y", "less +!x y", "vim -c x", "file -m x y"],
  "downloads to a place of their choice": ["curl -o ~/.x u", "curl file:///etc/passwd", "wget --use-askpass=x u"],
  "tools that run a project elsewhere": [
    "npm --prefix x run test",
    "npx x",
    "make -f x",
    "cmake -P x",
    "docker -H x ps",
    "podman --url x ps",
  ],
  "a flag behind a backslash": ["find . \\-delete", "rg \\--pre x y"],
  "git after a change of directory": ["cd /x && git status", "pushd x; git log", "cd - ; ls"],
  "what comes after fifty no-ops": [`${"true; ".repeat(51)}rm x`, `${"ls; ".repeat(60)}rm x`],
  "a very long command": [`echo ${"a ".repeat(6000)}; rm x`],
  "look-alikes and hidden characters": [
    "ɡit log",
    "git log； rm x",
    "git\u00a0log",
    "git\u200dlog",
    "ls \u202egol",
    "ls\t\t\t\u0008; rm x",
  ],
  "operands that are options": ["rm -- -rf", "find -exec"],
  "code for an interpreter": [
    "python -c x",
    "python3 -c x",
    "node -e x",
    "perl -e x",
    "bash -c x",
    "osascript -e x",
    "powershell -EncodedCommand x",
  ],
};

describe("an allow-list rule blocks every command with a hidden effect", () => {
  for (const [what, commands] of Object.entries(REFUSED)) {
    it(what, async () => {
      for (const command of commands) assert.equal(await run(command), "NO_MATCHING_RULE", JSON.stringify(command));
    });
  }
});

describe("an allow-list rule", () => {
  it("permits the commands that it lists", async () => {
    for (const command of [
      "git log",
      "git log --oneline -5 | cat",
      "ls -la src && echo done",
      "rg -n 'x y' src",
      "sed -n 1,5p f",
    ]) {
      assert.equal(await run(command), "success", command);
    }
  });

  it("asks a person about any other command, and denies it when no decision comes", async () => {
    assert.equal(await run("touch asked"), "APPROVAL_TIMEOUT");
    await assert.rejects(access(join(kernel.home.workspace, "asked")));
  });

  it("leaves the host unchanged and the ledger sound", async () => {
    for (const path of UNTOUCHED) assert.equal(await readFile(path, "utf8"), "untouched");
    assert.equal(codeOf(await kernel.call("echo", "1")), "success");
    await kernel.assertSound();
  });
});
