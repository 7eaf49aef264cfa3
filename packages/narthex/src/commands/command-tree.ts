import type { CommandEntry } from "./command.ts";

/** Every command, in the order help shows them. A command's file is loaded only when it is typed. */
export const COMMAND_TREE: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "open every door of the kernel and keep them open",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "mcp",
    summary: "give a session's tools to an MCP client over standard input and output",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  {
    name: "init",
    summary: "write a commented configuration and the default policy",
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    name: "session",
    summary: "open, list, show and close sessions",
    commands: [
      {
        name: "open",
        summary: "open a session on a workspace",
        load: async () => (await import("./session-open.ts")).sessionOpenCommand,
      },
      {
        name: "list",
        summary: "list open sessions",
        load: async () => (await import("./session-list.ts")).sessionListCommand,
      },
      {
        name: "show",
        summary: "show one session: identity, lease, budgets",
        load: async () => (await import("./session-show.ts")).sessionShowCommand,
      },
      {
        name: "close",
        summary: "close a session",
        load: async () => (await import("./session-close.ts")).sessionCloseCommand,
      },
    ],
  },
  {
    name: "call",
    summary: "run one tool",
    load: async () => (await import("./call.ts")).callCommand,
  },
  {
    name: "tools",
    summary: "list tools, show what they declare, add and remove your own",
    commands: [
      {
        name: "list",
        summary: "list tools",
        load: async () => (await import("./tools-list.ts")).toolsListCommand,
      },
      {
        name: "show",
        summary: "show one tool's schemas, capabilities, effects and bounds",
        load: async () => (await import("./tools-show.ts")).toolsShowCommand,
      },
      {
        name: "add",
        summary: "add a tool: a manifest with a program, or a module that exports tools",
        load: async () => (await import("./tools-add.ts")).toolsAddCommand,
      },
      {
        name: "remove",
        summary: "take a tool that was added out of the home",
        load: async () => (await import("./tools-remove.ts")).toolsRemoveCommand,
      },
    ],
  },
  {
    name: "watch",
    summary: "show every call as it happens, one line each",
    load: async () => (await import("./watch.ts")).watchCommand,
  },
  {
    name: "ledger",
    summary: "read the ledger and verify it",
    commands: [
      {
        name: "list",
        summary: "list records",
        load: async () => (await import("./ledger-list.ts")).ledgerListCommand,
      },
      {
        name: "show",
        summary: "show one record with its entries",
        load: async () => (await import("./ledger-show.ts")).ledgerShowCommand,
      },
      {
        name: "tail",
        summary: "print records as they become durable",
        load: async () => (await import("./ledger-tail.ts")).ledgerTailCommand,
      },
      {
        name: "verify",
        summary: "check that nothing was changed or removed",
        load: async () => (await import("./ledger-verify.ts")).ledgerVerifyCommand,
      },
    ],
  },
  {
    name: "cas",
    summary: "put content, get it, and see who holds it",
    commands: [
      {
        name: "put",
        summary: "store a file's bytes for a session",
        load: async () => (await import("./cas-put.ts")).casPutCommand,
      },
      {
        name: "get",
        summary: "read content by its hash",
        load: async () => (await import("./cas-get.ts")).casGetCommand,
      },
      {
        name: "stat",
        summary: "show the size and the holders of content",
        load: async () => (await import("./cas-stat.ts")).casStatCommand,
      },
    ],
  },
  {
    name: "journal",
    summary: "list calls whose outcome is unknown, and settle them",
    own: {
      name: "list",
      summary: "list calls whose outcome is unknown",
      load: async () => (await import("./journal-list.ts")).journalListCommand,
    },
    commands: [
      {
        name: "settle",
        summary: "say whether a call's effect happened",
        load: async () => (await import("./journal-settle.ts")).journalSettleCommand,
      },
    ],
  },
  {
    name: "undo",
    summary: "put back what file tools changed",
    load: async () => (await import("./undo.ts")).undoCommand,
  },
  {
    name: "doctor",
    summary: "try every mechanism of the sandbox and say what this host enforces",
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
];
