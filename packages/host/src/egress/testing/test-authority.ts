import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestAuthority {
  /** Certificate in PEM. */
  readonly authority: string;
  /** Issues a server certificate for these names and addresses (`DNS:a.test`, `IP:127.0.0.1`). */
  issue(names: readonly string[]): { readonly key: string; readonly cert: string };
  remove(): void;
}

const DAYS = ["-days", "2"];
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Creates a new certificate authority. */
export function createTestAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), "authority-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
  openssl("req", "-x509", ...NEW_KEY, ...DAYS, "-subj", "/CN=test", "-keyout", at("ca.key"), "-out", at("ca.pem"));
  return {
    authority: readFileSync(at("ca.pem"), "utf8"),
    issue(names) {
      const by = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-subj", "/CN=server"];
      const about = ["-addext", `subjectAltName=${names.join(",")}`, "-addext", "basicConstraints=critical,CA:FALSE"];
      const into = ["-keyout", at("server.key"), "-out", at("server.pem")];
      openssl("req", "-x509", ...NEW_KEY, ...DAYS, ...by, ...about, ...into);
      return { key: readFileSync(at("server.key"), "utf8"), cert: readFileSync(at("server.pem"), "utf8") };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
