import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string };
}

const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENSE_FILE = /^(?:licen[cs]e|notice|copying)(?:\.(?:md|txt))?$/i;

/** Lists the authors and licenses of the third-party code in these files. */
export function thirdPartyNotices(files: readonly string[]): string {
  const folders = new Set(files.flatMap((file) => PACKAGE_FOLDER.exec(file)?.[0] ?? []));
  const notices = [...folders].map(describe).toSorted();
  const heading = "This package contains code of the following packages, each under its own license.\n";
  return [heading, ...notices].join(`\n${"-".repeat(80)}\n\n`);
}

function describe(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { name, version, license, homepage, repository } = manifest;
  if (license === undefined) throw new Error(`${name} has no license`);
  const place = homepage ?? (typeof repository === "string" ? repository : repository?.url) ?? "";
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${[`${name} ${version} (${license})`, place, "", ...texts].join("\n").trim()}\n`;
}
