import type { CommandEntry } from "./command.ts";

/** All commands, in the order in which help shows them. A command's file is loaded only when it is used. */
export const COMMAND_TREE: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "run the kernel with every door open",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "status",
    summary: "show which kernel runs, since when, and how many clients it has",
    load: async () => (await import("./status.ts")).statusCommand,
  },
  {
    name: "stop",
    summary: "stop the kernel that `narthex mcp` started",
    load: async () => (await import("./stop.ts")).stopCommand,
  },
  {
    name: "console",
    summary: "print a sign-in link for the web console: approval requests and live calls",
    load: async () => (await import("./console.ts")).consoleCommand,
  },
  {
    name: "mcp",
    summary: "serve a session's tools to an MCP client over standard input and output",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  {
    name: "connect",
    summary: "put narthex in front of a coding agent in this repository: Claude Code, Codex, opencode and others",
    load: async () => (await import("./connect.ts")).connectCommand,
  },
  {
    name: "hook",
    summary: "decide a client's own tool call; for hooks of Claude Code and Cursor",
    load: async () => (await import("./hook.ts")).hookCommand,
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
    name: "lease",
    summary: "show, delegate, release and revoke leases",
    commands: [
      {
        name: "show",
        summary: "show a lease: rights, budgets and delegated leases",
        load: async () => (await import("./lease-show.ts")).leaseShowCommand,
      },
      {
        name: "delegate",
        summary: "delegate a narrower lease to a new session",
        load: async () => (await import("./lease-delegate.ts")).leaseDelegateCommand,
      },
      {
        name: "release",
        summary: "release a delegated lease and return its unspent budget",
        load: async () => (await import("./lease-release.ts")).leaseReleaseCommand,
      },
      {
        name: "revoke",
        summary: "revoke a lease and every lease delegated from it",
        load: async () => (await import("./lease-revoke.ts")).leaseRevokeCommand,
      },
    ],
  },
  {
    name: "labels",
    summary: "show and clear the labels of a workspace",
    commands: [
      {
        name: "show",
        summary: "show the effective labels of a workspace",
        load: async () => (await import("./labels-show.ts")).labelsShowCommand,
      },
      {
        name: "clear",
        summary: "clear all labels of a workspace after you have reviewed it",
        load: async () => (await import("./labels-clear.ts")).labelsClearCommand,
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
    summary: "list, show, add and remove tools",
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
        name: "trust",
        summary: "review what an MCP server changed about its tools, and trust it again",
        load: async () => (await import("./tools-trust.ts")).toolsTrustCommand,
      },
      {
        name: "remove",
        summary: "remove an added tool from the home",
        load: async () => (await import("./tools-remove.ts")).toolsRemoveCommand,
      },
    ],
  },
  {
    name: "generate",
    summary: "generate tools from functions: their TypeScript signatures become schemas",
    load: async () => (await import("./generate.ts")).generateCommand,
  },
  {
    name: "policy",
    summary: "check, test and reload the rules, and explain decisions",
    commands: [
      {
        name: "check",
        summary: "check a policy directory and report every problem",
        load: async () => (await import("./policy-check.ts")).policyCheckCommand,
      },
      {
        name: "test",
        summary: "run the examples that lie beside the rules",
        load: async () => (await import("./policy-test.ts")).policyTestCommand,
      },
      {
        name: "show",
        summary: "show the policy in force",
        load: async () => (await import("./policy-show.ts")).policyShowCommand,
      },
      {
        name: "reload",
        summary: "reload the policy from its directory",
        load: async () => (await import("./policy-reload.ts")).policyReloadCommand,
      },
      {
        name: "explain",
        summary: "explain what would be decided about a call, and by which rules",
        load: async () => (await import("./policy-explain.ts")).policyExplainCommand,
      },
      {
        name: "recheck",
        summary: "recheck a recorded decision with another engine",
        load: async () => (await import("./policy-recheck.ts")).policyRecheckCommand,
      },
      {
        name: "whatif",
        summary: "list every recorded decision that other rules would change",
        load: async () => (await import("./policy-whatif.ts")).policyWhatifCommand,
      },
      {
        name: "suggest",
        summary: "suggest the narrowest rules for calls that people approved",
        load: async () => (await import("./policy-suggest.ts")).policySuggestCommand,
      },
    ],
  },
  {
    name: "approvals",
    summary: "list approval requests, and decide them",
    defaultCommand: {
      name: "list",
      summary: "list open approval requests",
      load: async () => (await import("./approvals-list.ts")).approvalsListCommand,
    },
    commands: [
      {
        name: "list",
        summary: "list open approval requests",
        load: async () => (await import("./approvals-list.ts")).approvalsListCommand,
      },
      {
        name: "show",
        summary: "show the exact call of one request",
        load: async () => (await import("./approvals-show.ts")).approvalsShowCommand,
      },
      {
        name: "approve",
        summary: "approve: once, for the session, or as a rule",
        load: async () => (await import("./approvals-approve.ts")).approvalsApproveCommand,
      },
      {
        name: "deny",
        summary: "deny",
        load: async () => (await import("./approvals-deny.ts")).approvalsDenyCommand,
      },
      {
        name: "revoke",
        summary: "revoke a standing approval",
        load: async () => (await import("./approvals-revoke.ts")).approvalsRevokeCommand,
      },
      {
        name: "watch",
        summary: "decide requests in this terminal as they arrive",
        load: async () => (await import("./approvals-watch.ts")).approvalsWatchCommand,
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
    summary: "read, verify, sign and export the ledger, and prove what is in it",
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
        summary: "verify that nothing was changed or removed",
        load: async () => (await import("./ledger-verify.ts")).ledgerVerifyCommand,
      },
      {
        name: "checkpoint",
        summary: "sign a checkpoint of all records so far, and print it",
        load: async () => (await import("./ledger-checkpoint.ts")).ledgerCheckpointCommand,
      },
      {
        name: "prove",
        summary: "prove to others that a record is in the ledger, or that the ledger has only grown",
        load: async () => (await import("./ledger-prove.ts")).ledgerProveCommand,
      },
      {
        name: "rotate-key",
        summary: "replace the key that signs checkpoints",
        load: async () => (await import("./ledger-rotate-key.ts")).ledgerRotateKeyCommand,
      },
      {
        name: "export",
        summary: "export the ledger, or one session, into a file that proves itself",
        load: async () => (await import("./ledger-export.ts")).ledgerExportCommand,
      },
    ],
  },
  {
    name: "replay",
    summary: "run recorded sessions again and compare",
    load: async () => (await import("./replay.ts")).replayCommand,
  },
  {
    name: "cas",
    summary: "store and read content by its hash",
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
    defaultCommand: {
      name: "list",
      summary: "list calls whose outcome is unknown",
      load: async () => (await import("./journal-list.ts")).journalListCommand,
    },
    commands: [
      {
        name: "settle",
        summary: "record whether a call's effect happened",
        load: async () => (await import("./journal-settle.ts")).journalSettleCommand,
      },
    ],
  },
  {
    name: "undo",
    summary: "restore files that file tools changed",
    load: async () => (await import("./undo.ts")).undoCommand,
  },
  {
    name: "erase",
    summary: "erase content permanently, by hash or of a whole session",
    load: async () => (await import("./erase.ts")).eraseCommand,
  },
  {
    name: "gc",
    summary: "erase content that no artifact and no open session needs",
    load: async () => (await import("./gc.ts")).gcCommand,
  },
  {
    name: "backup",
    summary: "copy the home while it is in use, and verify the copy",
    load: async () => (await import("./backup.ts")).backupCommand,
  },
  {
    name: "restore",
    summary: "restore a home from a backup",
    load: async () => (await import("./restore.ts")).restoreCommand,
  },
  {
    name: "doctor",
    summary: "test every mechanism of the sandbox and report what this host enforces",
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
];
