import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface TestAuthority {
  /** Of a certificate for 127.0.0.1 and forge.test. */
  readonly key: string;
  readonly cert: string;
  /** The file with the certificate of who signed it: itself. */
  readonly file: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A certificate that only those trust who are told to. */
export async function createAuthority(): Promise<TestAuthority> {
  const folder = await mkdtemp(join(tmpdir(), "narthex-authority-"));
  const [key, file] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = "subjectAltName=IP:127.0.0.1,DNS:forge.test";
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await run("openssl", [...words, "-keyout", key, "-out", file, "-subj", "/CN=forge.test", "-addext", names]);
  return {
    key: await readFile(key, "utf8"),
    cert: await readFile(file, "utf8"),
    file,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
