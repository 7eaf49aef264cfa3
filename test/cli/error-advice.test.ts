import { once } from "node:events";
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { createHostedHome, ended, type TestHome } from "./home.ts";

/** A mistake that people make, and what they are told. */
interface Mistake {
  readonly args: readonly string[];
  readonly exit: number;
  /** The line that says what is wrong. */
  readonly says: RegExp;
  /** The line that says what to do about it. */
  readonly next: RegExp;
  readonly code?: string;
}

/** Beyond what the table says, no answer may hold these. */
const NEVER = [/\bCOMMAND\b/, /internal error/, /\n\s+at /, /undefined/, /net_read, net_read/];

describe("the advice in an error message", { timeout: 240_000 }, () => {
  let at: TestHome;
  let session: string;
  let closed: string;
  before(async () => {
    at = await createHostedHome();
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    await writeFile(join(at.workspace, "notes.txt"), "hello\n");
    session = (await at.openSession()).id;
    closed = (await at.openSession()).id;
    await at.ask(["session", "close", closed]);
  });
  after(() => at.remove());

  async function check(args: readonly string[], { exit, says, next, code }: Omit<Mistake, "args">): Promise<void> {
    const { code: ended, stdout, stderr } = await at.run(args);
    const told = `${args.join(" ")}\n${stdout}${stderr}`;
    assert.equal(ended, exit, told);
    assert.equal(stdout, "", told);
    const [nextLine = ""] = /^next: .*$/m.exec(stderr) ?? [];
    assert.match(stderr, says, told);
    assert.match(nextLine, next, told);
    if (code !== undefined) assert.match(stderr, new RegExp(`\\b${code}\\b`), told);
    for (const wrong of NEVER) assert.doesNotMatch(stderr, wrong, told);
  }

  const calls: readonly Mistake[] = [
    {
      args: ["call", "file_read", "notes.txt"],
      exit: 4,
      says: /^error: /,
      next: /single quotes.*`narthex call file_read '\{"path":"notes\.txt"\}'`/,
    },
    {
      args: ["call", "file_read", "{path:notes.txt}"],
      exit: 4,
      says: /^error: /,
      next: /`narthex call file_read '\{"path":"notes\.txt"\}'`/,
    },
    {
      args: ["call", "file_read", '"notes.txt"'],
      exit: 4,
      says: /expected object, got string$/m,
      next: /`narthex call file_read '\{"path":"notes\.txt"\}'`/,
    },
    {
      args: ["call", "file_read"],
      exit: 4,
      says: /^error: .*'path'\ncode:/m,
      next: /'\{"path":"PATH"\}'`; `narthex tools show file_read`/,
    },
    {
      args: ["call", "ech", "{}"],
      exit: 1,
      says: /no tool `ech`/,
      next: /did you mean `echo`\?/,
      code: "TOOL_NOT_FOUND",
    },
    { args: ["call", "zzzzzzzzzzzz", "{}"], exit: 1, says: /no tool/, next: /^next: +`narthex tools list`/ },
    {
      args: ["call", "http_fetch", '{"url":"https://example.com/"}'],
      exit: 3,
      says: /lacks net_read example\.com:443$/m,
      next: /--lease FILE/,
      code: "CAPABILITY_MISSING",
    },
    {
      args: ["call", "shell_exec", '{"command":"id"}'],
      exit: 3,
      says: /needs a person's approval/,
      next: /start `narthex serve`, or call from a terminal/,
    },
  ];
  for (const { args, ...rest } of calls) {
    it(`corrects a call: ${args.slice(1).join(" ")}`, () => check([...args, "--session", session], rest));
  }

  const others: readonly Mistake[] = [
    { args: ["tools", "show", "ech"], exit: 1, says: /no tool `ech`/, next: /did you mean `echo`\?/ },
    { args: ["policy", "explain", "ech"], exit: 1, says: /no tool `ech`/, next: /did you mean `echo`\?/ },
    { args: ["policy", "explain", "echo", "hi"], exit: 4, says: /is not JSON/, next: /single quotes/ },
    { args: ["tools", "add", "nope.yaml"], exit: 1, says: /`nope\.yaml` does not exist/, next: /manifest or module/ },
    {
      args: ["session", "open", "--workspace", ".", "--lease", "{}"],
      exit: 4,
      says: /--lease takes a file/,
      next: /--lease lease\.json/,
    },
    {
      args: ["session", "open", "--workspace", ".", "--lease", "nope.json"],
      exit: 4,
      says: /`nope\.json` cannot be read/,
      next: /name a file that you can read/,
    },
    {
      args: ["connect", "claude", "--workspace", "."],
      exit: 4,
      says: /it is your home directory/,
      next: /run `narthex connect claude` there, or name it with --workspace DIR/,
      code: "WORKSPACE_REFUSED",
    },
    { args: ["undo", "nothing"], exit: 3, says: /no session/, next: /`narthex session list --all`/ },
    { args: ["replay", "ses_nope"], exit: 3, says: /`ses_nope`/, next: /`narthex session list --all`/ },
    { args: ["session", "show", "nope"], exit: 3, says: /no session `nope`/, next: /`narthex session list --all`/ },
    { args: ["session", "show"], exit: 2, says: /missing required argument/, next: /`narthex session show --help`/ },
    { args: ["undo", "/"], exit: 2, says: /name a SESSION/, next: /`narthex undo --help`/ },
    { args: ["serve", "--listen", "nonsense"], exit: 2, says: /HOST:PORT/, next: /`narthex serve --help`/ },
    {
      args: ["doctor", "--accept", "/nowhere"],
      exit: 4,
      says: /nothing to accept: `\/nowhere`/,
      next: /run `narthex doctor`/,
    },
    {
      args: ["backup", "/sys/narthex-copy"],
      exit: 5,
      says: /backup.*`\/sys\/narthex-copy`.*(?:permission|read-only)/,
      next: /name another path/,
      code: "PATH_UNUSABLE",
    },
    {
      args: ["session", "list", "--data", "/sys/narthex"],
      exit: 5,
      says: /home `\/sys\/narthex` cannot be used: (?:permission denied|the file system is read-only)/,
      next: /name another path/,
      code: "PATH_UNUSABLE",
    },
    {
      args: ["init", "--data", "/dev/null/home"],
      exit: 5,
      says: /not a directory \(ENOTDIR\)/,
      next: /name another path/,
    },
    {
      // Node's own recursive mkdir never returns here, and a thread that runs it cannot be ended.
      args: ["serve", "--data", "/proc/nope"],
      exit: 5,
      says: /home `\/proc\/nope` cannot be used/,
      next: /name another path/,
      code: "PATH_UNUSABLE",
    },
  ];
  for (const { args, ...rest } of others) it(args.join(" "), () => check(args, rest));

  it("explains a call of a closed session", async () => {
    const rest = {
      exit: 3,
      says: /session `ses_\w+` was closed/,
      next: /`narthex session open/,
      code: "SESSION_CLOSED",
    };
    await check(["call", "echo", "{}", "--session", closed], rest);
    await check(["tools", "list", "--session", closed], rest);
  });

  it("repeats the home if --data named it", async () => {
    const data = join(at.root, "other home");
    await check(["session", "show", "nope", "--data", data], {
      exit: 3,
      says: /no session/,
      next: new RegExp(`\`narthex --data '${data}' session list --all\``),
    });
    const { stdout } = await at.run(["init", "--data", data]);
    assert.match(stdout, new RegExp(`next: narthex --data '${data}' serve`));
  });

  it("covers serve on an address that is taken, or that others could reach", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const listen = { exit: 5, says: /another program uses the port/, next: /`--listen 127\.0\.0\.1:PORT`/ };
    await check(["serve", "--listen", `127.0.0.1:${port}`], listen);
    taken.close();
    await check(["serve", "--listen", "0.0.0.0:0"], {
      exit: 4,
      says: /needs TLS/,
      next: /`--listen 127\.0\.0\.1:PORT`.*ssh -L/,
    });
  });

  it("covers an invalid policy, reported by serve and by each call that it denies", async () => {
    await writeFile(join(at.home, "policy/broken.cedar"), "permit(principal, action, resource");
    const denied = {
      exit: 3,
      says: /^denied: no policy is in force: broken\.cedar:1:35: /,
      next: /`narthex policy check`/,
    };
    await check(["call", "echo", "{}", "--session", session], denied);
    const child = at.start(["serve", "--listen", "127.0.0.1:0"]);
    const printed = text(child.stdout);
    await once(child.stdout, "data");
    const { stdout: status } = await at.run(["status"]);
    assert.match(
      status,
      /^policy +not in force, every call is denied: broken\.cedar:1:35: .* `narthex policy reload`$/m,
    );
    child.kill("SIGTERM");
    assert.equal(await ended(child), 0);
    assert.match(
      await printed,
      /NO POLICY IS IN FORCE: EVERY CALL IS DENIED\n +broken\.cedar:1:35: .*\n +next: .* policy check` and `.* policy reload`/,
    );
  });
});
