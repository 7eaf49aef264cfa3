import type { AdmittedCall, BoundCall, ToolVariant } from "../call.ts";
import { type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Resolves a name to one exact tool version. */
export function bind(call: AdmittedCall, kernel: KernelParts): BoundCall | Ending {
  const { variant, trail } = call;
  const name = variant.case === "call" ? variant.value.name : VARIANT_TOOLS[variant.case];
  const askedVersion = variant.case === "call" ? variant.value.version : "";
  trail.toolName = name;
  trail.toolVersion = askedVersion;
  const registered = kernel.registry.resolve(name, askedVersion);
  if (registered === undefined) return notFound(name, askedVersion, kernel);
  trail.tool = registered;
  trail.toolVersion = registered.tool.version;
  if (registered.state === "quarantined") {
    return new Failed(
      "TOOL_QUARANTINED",
      `\`${registered.id}\` changed its definition and is quarantined until it is trusted again`,
    );
  }
  if (registered.state === "disabled") {
    return new Failed("SANDBOX_UNAVAILABLE", `\`${registered.id}\` cannot run safely on this host`);
  }
  return { ...call, registered, requestedVersion: askedVersion };
}

/** The tools for the wire's typed messages. */
const VARIANT_TOOLS: Readonly<Record<Exclude<ToolVariant["case"], "call">, string>> = {
  fileRead: "file_read",
  fileWrite: "file_write",
  fileEdit: "file_edit",
  shellExec: "shell_exec",
  gitOp: "git",
  inference: "inference",
  artifactPublish: "artifact_publish",
};

function notFound(name: string, version: string, kernel: KernelParts): Failed {
  const shown = `\`${name.slice(0, 80)}\``;
  if (version !== "" && kernel.registry.resolve(name, "") !== undefined) {
    return new Failed(
      "TOOL_NOT_FOUND",
      `tool ${shown} has no version \`${version.slice(0, 40)}\`; leave the version out for the highest release`,
    );
  }
  return new Failed("TOOL_NOT_FOUND", `there is no tool ${shown}; \`narthex tools list\` shows those there are`);
}
