import type { CodeFacts } from "./code-facts.ts";

export type HostCode =
  | "HOME_BUSY"
  | "HOME_UNSAFE"
  | "PATH_UNUSABLE"
  | "CONFIG_INVALID"
  | "POLICY_INVALID"
  | "WORKSPACE_REFUSED"
  | "KERNEL_UNREACHABLE"
  | "CONTENT_DAMAGED"
  | "CONTENT_IN_USE"
  | "BACKUP_INVALID"
  | "LEASE_INVALID"
  | "LEASE_NOT_FOUND"
  | "INTENT_NOT_FOUND"
  | "NOTHING_TO_UNDO"
  | "UNDO_CONFLICT"
  | "RECORD_NOT_FOUND"
  | "APPROVAL_NOT_FOUND"
  | "TOKEN_INVALID"
  | "LOG_CONTRADICTS"
  | "LEDGER_ROLLED_BACK"
  | "LOG_KEY_UNUSABLE"
  | "CHECKPOINT_NOT_FOUND"
  | "RECORD_NOT_SIGNED";

/** Problems of the machine, its configuration, or an administrator's request. */
export const HOST_CODES: ReadonlyMap<HostCode, CodeFacts> = new Map<HostCode, CodeFacts>([
  [
    "HOME_BUSY",
    {
      retryable: true,
      meaning: "another kernel holds this home",
      next: "send commands to the kernel that holds it, stop that kernel, or name another home with `--data DIR`",
    },
  ],
  [
    "HOME_UNSAFE",
    {
      retryable: false,
      meaning: "the kernel's home is open to other users, or lies where an agent could reach it",
      next: "make the directory yours alone with `chmod 700 DIR`, or name another with `--data DIR`",
    },
  ],
  [
    "PATH_UNUSABLE",
    {
      retryable: false,
      meaning: "the operating system does not let this user read or write the path that was named",
      next: "name another path, or run the command as a user who may use this one",
    },
  ],
  [
    "CONFIG_INVALID",
    {
      retryable: false,
      meaning: "the configuration cannot be used",
      next: "correct the named line of narthex.yaml; `narthex init` writes a commented one where there is none",
    },
  ],
  [
    "POLICY_INVALID",
    {
      retryable: false,
      meaning: "the policy cannot be used, so every call is denied",
      next: "correct the named line of the policy file, then run `narthex policy reload`, or start the kernel",
    },
  ],
  [
    "WORKSPACE_REFUSED",
    {
      retryable: false,
      meaning: "this directory cannot be a workspace",
      next: "name a project directory of its own as the workspace, with `--workspace DIR`",
    },
  ],
  [
    "KERNEL_UNREACHABLE",
    {
      retryable: true,
      meaning: "the kernel did not answer",
      next: "start it with `narthex serve`, or check that `--data DIR` names the home it holds",
    },
  ],
  [
    "CONTENT_DAMAGED",
    {
      retryable: false,
      meaning: "stored content no longer has the hash it is stored under",
      next: "run `narthex ledger verify` to see what else is damaged, then restore from a backup",
    },
  ],
  [
    "CONTENT_IN_USE",
    {
      retryable: true,
      meaning: "the content cannot be erased yet: a call, a question, a rule or an open session needs it",
      next: "end what the message names, then erase again",
    },
  ],
  [
    "BACKUP_INVALID",
    {
      retryable: false,
      meaning: "the directory is no backup, or does not hold the ledger that it says",
      next: "name the directory that `narthex backup` wrote, or take an older backup",
    },
  ],
  [
    "LEASE_INVALID",
    {
      retryable: false,
      meaning: "the lease asked for contradicts itself or reaches beyond its parent",
      next: "correct every named part of the lease; a child's lease stays within its parent's",
    },
  ],
  [
    "LEASE_NOT_FOUND",
    {
      retryable: false,
      meaning: "no lease has this id",
      next: "take the id of a lease from the session that holds it, or from the record that granted it",
    },
  ],
  [
    "INTENT_NOT_FOUND",
    {
      retryable: false,
      meaning: "no unsettled call has this session and request id",
      next: "run `narthex journal` to see the calls that wait to be settled",
    },
  ],
  [
    "NOTHING_TO_UNDO",
    {
      retryable: false,
      meaning: "the call or session changed no files, or its changes were undone already",
      next: "run `narthex ledger list` to see which calls there were",
    },
  ],
  [
    "UNDO_CONFLICT",
    {
      retryable: false,
      meaning: "files were changed again since, so nothing was undone",
      next: "undo what changed them later first, or put these paths back by hand",
    },
  ],
  [
    "RECORD_NOT_FOUND",
    {
      retryable: false,
      meaning: "the ledger has no such record",
      next: "run `narthex ledger list` to see which records there are",
    },
  ],
  [
    "APPROVAL_NOT_FOUND",
    {
      retryable: false,
      meaning: "no open question has this id: it was answered, its time is over, nobody waits for it, or it never was",
      next: "run `narthex approvals list --standing` to see what is asked, and what was allowed for longer",
    },
  ],
  [
    "TOKEN_INVALID",
    {
      retryable: false,
      meaning: "the bearer token is missing, unknown, or not for this purpose",
      next: "send the token printed by `narthex session open`, or for administration the one in the kernel's home",
    },
  ],
  [
    "LOG_CONTRADICTS",
    {
      retryable: false,
      meaning: "the Merkle log and the ledger say different things, so nothing more is signed",
      next: "run `narthex ledger verify` to see which of them was changed, and put back a backup of it",
    },
  ],
  [
    "LEDGER_ROLLED_BACK",
    {
      retryable: false,
      meaning: "a checkpoint was signed for records that the ledger does not have any more",
      next: "put back the newest backup of the home; what was signed for is gone from here",
    },
  ],
  [
    "LOG_KEY_UNUSABLE",
    {
      retryable: false,
      meaning: "the key that signs checkpoints is missing, damaged, or was within reach of others",
      next: "put the key back from a backup of the home, or correct its mode with `chmod 600`; if it is lost, `narthex ledger rotate-key --lost`",
    },
  ],
  [
    "CHECKPOINT_NOT_FOUND",
    {
      retryable: false,
      meaning: "no checkpoint of this size was ever signed",
      next: "run `narthex ledger checkpoint` to sign one, or name a size that was signed",
    },
  ],
  [
    "RECORD_NOT_SIGNED",
    {
      retryable: true,
      meaning: "no checkpoint covers this record yet",
      next: "run `narthex ledger checkpoint` to sign one, then ask again",
    },
  ],
]);
