import { KernelError, toHex, fromHex } from "@narthex/contracts";
import type { Logger } from "@narthex/kernel";
import { findChanges, type Listing } from "./listing.ts";
import type { ServerPins } from "./pin-store.ts";
import { readQuarantine, writeQuarantine } from "./quarantine-store.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import { serverToolName } from "./tool-name.ts";

/** A tool whose definition differs from the registered one. */
export interface ToolChange {
  readonly name: string;
  readonly version: string;
  /** Hash of the new definition; empty if none exists. */
  readonly foundHash: Uint8Array;
}

interface Expected {
  readonly pins: ServerPins;
  hashOf(definition: ToolDefinition): Uint8Array;
}

/** The default of `defineTool`, because tools of servers have no version. */
const TOOL_VERSION = "1.0.0";

/**
 * Compares the tools that servers list with the pinned ones. A changed tool stays quarantined, across restarts too,
 * until a person reviews and trusts it, even if the server shows its original definition again.
 */
export class Quarantine {
  readonly #directory: string;
  readonly #log: Logger | undefined;
  readonly #expected = new Map<string, Expected>();
  /** By the names that the tools have in this kernel. */
  readonly #changed = new Map<string, ToolChange>();
  #report: ((change: ToolChange) => void) | undefined;

  constructor(directory: string, log: Logger | undefined) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Compares the tools of a server with these pins from now on. Tools that changed earlier are quarantined at once. */
  expect(pins: ServerPins, hashOf: Expected["hashOf"]): void {
    this.#expected.set(pins.server, { pins, hashOf });
    const kept = readQuarantine(this.#directory, pins.server);
    for (const pinned of pins.tools) {
      const found = kept === "unreadable" ? "" : kept.get(pinned.name);
      // The changed definition is the pinned one: it was trusted while another kernel still ran with the old pins.
      if (found === undefined || (found !== "" && found === toHex(hashOf(pinned)))) continue;
      this.#add(pins.server, pinned.name, fromHex(found) ?? new Uint8Array(0));
    }
  }

  watch(report: (change: ToolChange) => void): void {
    this.#report = report;
    for (const change of this.#changed.values()) report(change);
  }

  compare(server: string, listing: Listing): void {
    const expected = this.#expected.get(server);
    if (expected === undefined) return;
    for (const { pinned, found, fields } of findChanges(listing, expected.pins)) {
      const name = serverToolName(server, pinned.name);
      if (this.#changed.has(name)) continue;
      const foundHash = found === undefined ? new Uint8Array(0) : expected.hashOf(found);
      const change = this.#add(server, pinned.name, foundHash);
      this.#keep(server, pinned.name, foundHash);
      this.#log?.("warn", "a tool of an MCP server changed and is quarantined", {
        tool: name,
        changed: fields.join(", "),
      });
      this.#report?.(change);
    }
  }

  #add(server: string, tool: string, foundHash: Uint8Array): ToolChange {
    const change = { name: serverToolName(server, tool), version: TOOL_VERSION, foundHash };
    this.#changed.set(change.name, change);
    return change;
  }

  #keep(server: string, tool: string, foundHash: Uint8Array): void {
    try {
      const kept = readQuarantine(this.#directory, server);
      if (kept === "unreadable") return;
      writeQuarantine(this.#directory, server, new Map([...kept, [tool, toHex(foundHash)]]));
    } catch (fault) {
      const cause = fault instanceof Error ? fault.message : String(fault);
      this.#log?.("error", "a quarantine could not be kept, and ends with this kernel", { server, tool, cause });
    }
  }

  /** Throws TOOL_QUARANTINED. */
  verify(name: string): void {
    if (!this.#changed.has(name)) return;
    throw new KernelError(
      "TOOL_QUARANTINED",
      `the MCP server changed the definition of \`${name}\`: look at it with \`narthex tools trust ${name}\``,
      { changedNothing: true },
    );
  }
}
