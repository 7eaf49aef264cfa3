import { KernelError } from "@narthex/contracts";
import type { Log } from "@narthex/kernel";
import { findChanges, type Listing } from "./listing.ts";
import type { ServerPins } from "./pin-store.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import { serverToolName } from "./tool-name.ts";

/** A tool that is not any more what was registered. */
export interface ToolChange {
  readonly name: string;
  readonly version: string;
  /** Of the definition that was found instead; empty if there is none. */
  readonly foundHash: Uint8Array;
}

interface Expected {
  readonly pins: ServerPins;
  hashOf(definition: ToolDefinition): Uint8Array;
}

/** As `defineTool` has it: servers give their tools none. */
const TOOL_VERSION = "1.0.0";

/** Holds what servers list against what was pinned. */
export class Quarantine {
  readonly #log: Log | undefined;
  readonly #expected = new Map<string, Expected>();
  readonly #changed = new Set<string>();
  #report: ((change: ToolChange) => void) | undefined;

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  expect(pins: ServerPins, hashOf: Expected["hashOf"]): void {
    this.#expected.set(pins.server, { pins, hashOf });
  }

  watch(report: (change: ToolChange) => void): void {
    this.#report = report;
  }

  /** SECURITY: once changed is changed, until a person has looked: a server may show its first face again. */
  compare(server: string, listing: Listing): void {
    const expected = this.#expected.get(server);
    if (expected === undefined) return;
    for (const { pinned, found, fields } of findChanges(listing, expected.pins)) {
      const name = serverToolName(server, pinned.name);
      if (this.#changed.has(name)) continue;
      this.#changed.add(name);
      const changed = fields.join(", ");
      this.#log?.("warn", "a tool of an MCP server changed and is quarantined", { tool: name, changed });
      const foundHash = found === undefined ? new Uint8Array(0) : expected.hashOf(found);
      this.#report?.({ name, version: TOOL_VERSION, foundHash });
    }
  }

  /** Throws TOOL_QUARANTINED. */
  verify(name: string): void {
    if (!this.#changed.has(name)) return;
    throw new KernelError(
      "TOOL_QUARANTINED",
      `the MCP server changed the definition of \`${name}\`: look at it with \`narthex tools trust ${name}\``,
    );
  }
}
