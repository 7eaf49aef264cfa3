import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A registry of one npm package, `greeting`, as npm asks for it. */
export function createNpmRegistry(): RequestListener {
  const tarball = makeTarball("package", {
    "package.json": JSON.stringify({ name: "greeting", version: "1.0.0", main: "index.js" }),
    "index.js": "module.exports = 'hello from the registry';\n",
  });
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  return (request, response) => {
    if (request.url === "/greeting/-/greeting-1.0.0.tgz") return void response.end(tarball);
    if (request.url !== "/greeting") return void response.writeHead(404).end("{}");
    const dist = { tarball: `http://${request.headers.host}/greeting/-/greeting-1.0.0.tgz`, integrity };
    const version = { name: "greeting", version: "1.0.0", main: "index.js", dist };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ name: "greeting", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }),
    );
  };
}

/** An index of one Python package, as pip asks for it. */
export function createPythonIndex(): RequestListener {
  const name = "greeting-1.0.0";
  const archive = makeTarball(name, {
    "PKG-INFO": "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0.0\n",
    "setup.py": "from setuptools import setup\nsetup(name='greeting', version='1.0.0', py_modules=['greeting'])\n",
    "greeting.py": "text = 'hello from the index'\n",
  });
  const hash = createHash("sha256").update(archive).digest("hex");
  return (request, response) => {
    if (request.url === `/files/${name}.tar.gz`) return void response.end(archive);
    if (request.url !== "/simple/greeting/") return void response.writeHead(404).end();
    response.setHeader("content-type", "text/html");
    response.end(`<a href="/files/${name}.tar.gz#sha256=${hash}">${name}.tar.gz</a>`);
  };
}

function makeTarball(folder: string, files: Readonly<Record<string, string>>): Buffer {
  const root = mkdtempSync(join(tmpdir(), "narthex-registry-"));
  try {
    mkdirSync(join(root, folder));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, folder, name), text);
    execFileSync("tar", ["-czf", "made.tgz", folder], { cwd: root });
    return readFileSync(join(root, "made.tgz"));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
