import type { CommandEntry } from "./command.ts";

/** Every command, in the order help shows them. A command's file is loaded only when it is typed. */
export const COMMAND_TREE: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "open every door of the kernel and keep them open",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "status",
    summary: "say which kernel runs, since when, and how many clients it has",
    load: async () => (await import("./status.ts")).statusCommand,
  },
  {
    name: "stop",
    summary: "end the kernel that `narthex mcp` started",
    load: async () => (await import("./stop.ts")).stopCommand,
  },
  {
    name: "console",
    summary: "print a link that opens the web page: questions to answer, and calls as they happen",
    load: async () => (await import("./console.ts")).consoleCommand,
  },
  {
    name: "mcp",
    summary: "give a session's tools to an MCP client over standard input and output",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  {
    name: "connect",
    summary: "put narthex in front of a coding agent in this repository: Claude Code, Codex, opencode and others",
    load: async () => (await import("./connect.ts")).connectCommand,
  },
  {
    name: "hook",
    summary: "decide a client's own tool call, for its hooks",
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
    summary: "show leases, split them, release and revoke them",
    commands: [
      {
        name: "show",
        summary: "show a lease: rights, budgets, and what was split off it",
        load: async () => (await import("./lease-show.ts")).leaseShowCommand,
      },
      {
        name: "delegate",
        summary: "split a narrower lease off a session's own, for a session of its own",
        load: async () => (await import("./lease-delegate.ts")).leaseDelegateCommand,
      },
      {
        name: "release",
        summary: "end a lease that was split off a session's own, and get back what it did not spend",
        load: async () => (await import("./lease-release.ts")).leaseReleaseCommand,
      },
      {
        name: "revoke",
        summary: "revoke a lease and all that was split off it",
        load: async () => (await import("./lease-revoke.ts")).leaseRevokeCommand,
      },
    ],
  },
  {
    name: "labels",
    summary: "show a workspace's labels, and take them off",
    commands: [
      {
        name: "show",
        summary: "show the labels in force on a workspace",
        load: async () => (await import("./labels-show.ts")).labelsShowCommand,
      },
      {
        name: "clear",
        summary: "take all labels off a workspace, because you have looked",
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
        name: "trust",
        summary: "look at what an MCP server changed about its tools, and pin it anew",
        load: async () => (await import("./tools-trust.ts")).toolsTrustCommand,
      },
      {
        name: "remove",
        summary: "take a tool that was added out of the home",
        load: async () => (await import("./tools-remove.ts")).toolsRemoveCommand,
      },
    ],
  },
  {
    name: "generate",
    summary: "make tools of functions: their TypeScript signatures become schemas",
    load: async () => (await import("./generate.ts")).generateCommand,
  },
  {
    name: "policy",
    summary: "check, try and reload the rules, and explain what they decide",
    commands: [
      {
        name: "check",
        summary: "check a policy directory and name every problem",
        load: async () => (await import("./policy-check.ts")).policyCheckCommand,
      },
      {
        name: "test",
        summary: "try the examples that lie beside the rules",
        load: async () => (await import("./policy-test.ts")).policyTestCommand,
      },
      {
        name: "show",
        summary: "show which policy is in force",
        load: async () => (await import("./policy-show.ts")).policyShowCommand,
      },
      {
        name: "reload",
        summary: "put the policy directory's present state in force",
        load: async () => (await import("./policy-reload.ts")).policyReloadCommand,
      },
      {
        name: "explain",
        summary: "say what would become of a call, and which rules decide",
        load: async () => (await import("./policy-explain.ts")).policyExplainCommand,
      },
      {
        name: "recheck",
        summary: "make a recorded decision again and compare",
        load: async () => (await import("./policy-recheck.ts")).policyRecheckCommand,
      },
      {
        name: "whatif",
        summary: "list every recorded decision that other rules would change",
        load: async () => (await import("./policy-whatif.ts")).policyWhatifCommand,
      },
      {
        name: "suggest",
        summary: "propose the narrowest rules for calls that people approved",
        load: async () => (await import("./policy-suggest.ts")).policySuggestCommand,
      },
    ],
  },
  {
    name: "approvals",
    summary: "see what people are asked, and answer",
    defaultCommand: {
      name: "list",
      summary: "list open questions",
      load: async () => (await import("./approvals-list.ts")).approvalsListCommand,
    },
    commands: [
      {
        name: "list",
        summary: "list open questions",
        load: async () => (await import("./approvals-list.ts")).approvalsListCommand,
      },
      {
        name: "show",
        summary: "show the exact call of one question",
        load: async () => (await import("./approvals-show.ts")).approvalsShowCommand,
      },
      {
        name: "approve",
        summary: "say yes: once, for the session, or as a rule",
        load: async () => (await import("./approvals-approve.ts")).approvalsApproveCommand,
      },
      {
        name: "deny",
        summary: "say no",
        load: async () => (await import("./approvals-deny.ts")).approvalsDenyCommand,
      },
      {
        name: "revoke",
        summary: "take back an answer for a session or a rule",
        load: async () => (await import("./approvals-revoke.ts")).approvalsRevokeCommand,
      },
      {
        name: "watch",
        summary: "be asked here, as questions come",
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
    summary: "read the ledger, verify it, sign it and prove what is in it",
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
      {
        name: "checkpoint",
        summary: "sign for all records so far, and print the signed note",
        load: async () => (await import("./ledger-checkpoint.ts")).ledgerCheckpointCommand,
      },
      {
        name: "prove",
        summary: "prove to others that a record is in the ledger, or that nothing before it was changed",
        load: async () => (await import("./ledger-prove.ts")).ledgerProveCommand,
      },
      {
        name: "rotate-key",
        summary: "hand over to a new key that signs checkpoints",
        load: async () => (await import("./ledger-rotate-key.ts")).ledgerRotateKeyCommand,
      },
      {
        name: "export",
        summary: "write the ledger, or a session of it, into one file that proves itself",
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
    defaultCommand: {
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
    name: "erase",
    summary: "erase content for good, by hash or of a whole session",
    load: async () => (await import("./erase.ts")).eraseCommand,
  },
  {
    name: "gc",
    summary: "erase what no artifact and no open session needs any more",
    load: async () => (await import("./gc.ts")).gcCommand,
  },
  {
    name: "backup",
    summary: "copy the home while it is in use, and verify the copy",
    load: async () => (await import("./backup.ts")).backupCommand,
  },
  {
    name: "restore",
    summary: "make a home of a backup",
    load: async () => (await import("./restore.ts")).restoreCommand,
  },
  {
    name: "doctor",
    summary: "try every mechanism of the sandbox and say what this host enforces",
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
];
