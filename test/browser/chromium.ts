import { existsSync } from "node:fs";
import packedChromium from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** Debian's, for machines that the packed one was not built for. */
const SYSTEM_CHROMIUM = "/usr/bin/chromium";
/** Not those that come with the packed browser: they would turn off what is tested here. */
const ARGUMENTS = ["--no-sandbox", "--no-zygote", "--disable-gpu"];

/** Starts a real browser: the packed one, else the system's. */
export async function launchChromium(): Promise<Browser> {
  const problems: string[] = [];
  for (const findExecutable of [() => packedChromium.executablePath(), systemChromium]) {
    try {
      return await chromium.launch({ executablePath: await findExecutable(), args: ARGUMENTS });
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(
    [
      "no browser could be started for the tests of the console",
      "install Debian's: apt install chromium (it brings the libraries that the packed one may miss)",
      "a packed one that was unpacked only in part is mended by removing `chromium` from the temporary directory",
      ...problems,
    ].join("\n"),
  );
}

function systemChromium(): string {
  if (existsSync(SYSTEM_CHROMIUM)) return SYSTEM_CHROMIUM;
  throw new Error(`there is no ${SYSTEM_CHROMIUM}`);
}
