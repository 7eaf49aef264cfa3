import { spawn } from "node:child_process";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** Git over http as a forge has it: the real git behind CGI, for whoever knows the password. */
export function createForge(root: string, password: string): RequestListener {
  const expected = `Basic ${Buffer.from(`agent:${password}`).toString("base64")}`;
  return (request, response) => {
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="forge"' }).end("who are you?");
      return;
    }
    if (request.url?.startsWith("/quoting.git/")) return quote(request, response);
    serve(root, request, response);
  };
}

/** Says in git's own words what it was shown, and leads there, too. */
function quote({ headers: { authorization = "" }, url = "" }: IncomingMessage, response: ServerResponse): void {
  const password = Buffer.from(authorization.replace("Basic ", ""), "base64").toString().replace("agent:", "");
  if (url.includes("/quoting.git/away/")) {
    return void response
      .writeHead(302, { location: `/quoting.git/${password}/info/refs?service=git-upload-pack` })
      .end();
  }
  const line = (text: string): string => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
  response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement", "x-shown": authorization });
  response.end(`${line("# service=git-upload-pack\n")}0000${line(`ERR no ${password} and no ${authorization}\n`)}`);
}

function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://forge.test");
  const git = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "agent",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
    },
  });
  request.pipe(git.stdin);
  git.stdin.on("error", () => undefined);
  let head = Buffer.alloc(0);
  let isBegun = false;
  git.stdout.on("data", (chunk: Buffer) => {
    if (isBegun) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    isBegun = true;
    const lines = head.subarray(0, end).toString().split("\r\n");
    for (const line of lines) {
      const [name = "", value = ""] = line.split(/: */, 2);
      if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
  });
  git.stdout.on("end", () => response.end());
}
