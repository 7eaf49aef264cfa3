import type { OwnCodeMode } from "../own-code.ts";
import type { Invocation, OptionDescription } from "./command.ts";

/** For commands that open a session or start a kernel. */
export const OWN_CODE_OPTION: OptionDescription = {
  flags: "--allow-own-code",
  description: "go on where narthex itself is installed in the workspace",
};

/**
 * Checks that the workspace does not hold this program's own code, whichever kernel serves it: the command holds the
 * home's tokens too. Throws WORKSPACE_REFUSED, else returns the mode for a kernel in this process.
 */
export async function checkOwnCode(
  { options, home, environment }: Pick<Invocation, "options" | "home" | "environment">,
  workspace: string,
): Promise<OwnCodeMode> {
  const { homePaths } = await import("@narthex/host/home-paths");
  const { loadConfiguration } = await import("@narthex/host/configuration");
  const { resolveWorkspace } = await import("@narthex/host/workspace-rules");
  const { createOwnCodeCheck, locateOwnCode } = await import("../own-code.ts");
  const { session } = await loadConfiguration(homePaths(home).configuration);
  const mode = options.flag("allow-own-code") || session.ownCode === "allow" ? "allow" : "refuse";
  const check = createOwnCodeCheck({ ownCode: locateOwnCode(environment), mode });
  await check(await resolveWorkspace(workspace, { home }));
  return mode;
}
