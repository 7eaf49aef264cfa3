// Written by scripts/ledger-readers.ts. Do not edit.
//
// Each reader gives the message that lies between two positions, or undefined if there is anything about its encoding
// that is not canonical: the careful reader then says what.
import { NO_BYTES, NO_CASE, NO_ITEMS } from "../message-layout.ts";
import { longVarint, readLongVarint } from "../read-long-varint.ts";
import { Slice } from "../slice.ts";
import { isUtf8, readText } from "../text.ts";

const NOTHING_KEPT = Object.freeze({});

export function readRecord(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let format = 0;
  let index = 0;
  let chain = "";
  let sequence = 0;
  let logicalTimeMs = 0;
  let wallTimeMs = 0;
  let previousHash: Slice = NO_BYTES;
  let requestId = "";
  let entries: unknown[] | undefined = undefined as unknown[] | undefined;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0 || value > 0xffffffff) return undefined;
        format = value;
        break;
      }
      case 16: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        index = value;
        break;
      }
      case 26: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        chain = text;
        at = stop;
        break;
      }
      case 32: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        sequence = value;
        break;
      }
      case 40: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        logicalTimeMs = value;
        break;
      }
      case 48: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        wallTimeMs = value;
        break;
      }
      case 58: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        previousHash = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 66: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        requestId = text;
        at = stop;
        break;
      }
      case 74: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readEntry(bytes, at, stop);
        if (message === undefined) return undefined;
        if (entries === undefined) entries = [message];
        else entries.push(message);
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { format: format, index: index, chain: chain, sequence: sequence, logicalTimeMs: logicalTimeMs, wallTimeMs: wallTimeMs, previousHash: previousHash, requestId: requestId, entries: entries ?? NO_ITEMS };
}

export function readEntry(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let kind: unknown = undefined;
  let kindCase: string | undefined = undefined as string | undefined;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 10: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readToolInvoked(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "toolInvoked";
        kind = message;
        at = stop;
        break;
      }
      case 18: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readCapabilityCheck(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "capabilityCheck";
        kind = message;
        at = stop;
        break;
      }
      case 26: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readPolicyDecision(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "policyDecision";
        kind = message;
        at = stop;
        break;
      }
      case 50: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readToolStarted(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "toolStarted";
        kind = message;
        at = stop;
        break;
      }
      case 58: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readOutcome(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "toolCompleted";
        kind = message;
        at = stop;
        break;
      }
      case 66: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readOutcome(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "toolFailed";
        kind = message;
        at = stop;
        break;
      }
      case 74: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readOutcome(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "toolTimedOut";
        kind = message;
        at = stop;
        break;
      }
      case 82: {
        if (tag <= previous || previous !== 0) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readOutcome(bytes, at, stop);
        if (message === undefined) return undefined;
        kindCase = "toolDenied";
        kind = message;
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { kind: kindCase === undefined ? NO_CASE : { case: kindCase, value: kind } };
}

export function readToolInvoked(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let inputCommitment: Slice = NO_BYTES;
  let requestCommitment: Slice = NO_BYTES;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 10: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 18: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 26: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        at = stop;
        break;
      }
      case 34: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        inputCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 42: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        requestCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 50: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 58: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 66: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 74: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 82: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { inputCommitment: inputCommitment, requestCommitment: requestCommitment };
}

export function readCapabilityCheck(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let granted = false;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        granted = true;
        break;
      }
      case 18: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 26: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 34: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 42: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { granted: granted };
}

export function readPolicyDecision(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let allowed = false;
  let ruleIds: unknown[] | undefined = undefined as unknown[] | undefined;
  let policyHash: Slice = NO_BYTES;
  let proofCommitment: Slice = NO_BYTES;
  let approve = "";
  let rationaleCode = "";
  let observedOnly = false;
  let policyRequestCommitment: Slice = NO_BYTES;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        allowed = true;
        break;
      }
      case 18: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        if (ruleIds === undefined) ruleIds = [text];
        else ruleIds.push(text);
        at = stop;
        break;
      }
      case 26: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        policyHash = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 34: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        proofCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 42: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        approve = text;
        at = stop;
        break;
      }
      case 50: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        rationaleCode = text;
        at = stop;
        break;
      }
      case 56: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        observedOnly = true;
        break;
      }
      case 66: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        policyRequestCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { allowed: allowed, ruleIds: ruleIds ?? NO_ITEMS, policyHash: policyHash, proofCommitment: proofCommitment, approve: approve, rationaleCode: rationaleCode, observedOnly: observedOnly, policyRequestCommitment: policyRequestCommitment };
}

export function readToolStarted(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let intent = false;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        break;
      }
      case 16: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        intent = true;
        break;
      }
      case 26: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readBudgetAmount(bytes, at, stop);
        if (message === undefined) return undefined;
        at = stop;
        break;
      }
      case 32: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        break;
      }
      case 40: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { intent: intent };
}

export function readBudgetAmount(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 10: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 16: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return NOTHING_KEPT;
}

export function readOutcome(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let success = false;
  let code = "";
  let requestCommitment: Slice = NO_BYTES;
  let proofCommitment: Slice = NO_BYTES;
  let resultCommitment: Slice = NO_BYTES;
  let resultSize = 0;
  let labels: unknown[] | undefined = undefined as unknown[] | undefined;
  let errorCommitment: Slice = NO_BYTES;
  let filesCommitment: Slice = NO_BYTES;
  let preimageCommitments: unknown[] | undefined = undefined as unknown[] | undefined;
  let outputCommitments: unknown[] | undefined = undefined as unknown[] | undefined;
  let stagedCommitments: unknown[] | undefined = undefined as unknown[] | undefined;
  let redacted = false;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        success = true;
        break;
      }
      case 18: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        code = text;
        at = stop;
        break;
      }
      case 26: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        requestCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 34: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        proofCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 42: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        resultCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 48: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        resultSize = value;
        break;
      }
      case 58: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 64: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        break;
      }
      case 72: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        break;
      }
      case 82: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readBudgetAmount(bytes, at, stop);
        if (message === undefined) return undefined;
        at = stop;
        break;
      }
      case 90: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        if (labels === undefined) labels = [text];
        else labels.push(text);
        at = stop;
        break;
      }
      case 98: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 104: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        break;
      }
      case 114: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        errorCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 120: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        break;
      }
      case 130: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        filesCommitment = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 138: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        if (preimageCommitments === undefined) preimageCommitments = [length === 0 ? NO_BYTES : new Slice(bytes, at, stop)];
        else preimageCommitments.push(length === 0 ? NO_BYTES : new Slice(bytes, at, stop));
        at = stop;
        break;
      }
      case 146: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        if (outputCommitments === undefined) outputCommitments = [length === 0 ? NO_BYTES : new Slice(bytes, at, stop)];
        else outputCommitments.push(length === 0 ? NO_BYTES : new Slice(bytes, at, stop));
        at = stop;
        break;
      }
      case 154: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        if (stagedCommitments === undefined) stagedCommitments = [length === 0 ? NO_BYTES : new Slice(bytes, at, stop)];
        else stagedCommitments.push(length === 0 ? NO_BYTES : new Slice(bytes, at, stop));
        at = stop;
        break;
      }
      case 160: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        redacted = true;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { success: success, code: code, requestCommitment: requestCommitment, proofCommitment: proofCommitment, resultCommitment: resultCommitment, resultSize: resultSize, labels: labels ?? NO_ITEMS, errorCommitment: errorCommitment, filesCommitment: filesCommitment, preimageCommitments: preimageCommitments ?? NO_ITEMS, outputCommitments: outputCommitments ?? NO_ITEMS, stagedCommitments: stagedCommitments ?? NO_ITEMS, redacted: redacted };
}

export function readRecordContent(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let items: unknown[] | undefined = undefined as unknown[] | undefined;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 10: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const message = readContentItem(bytes, at, stop);
        if (message === undefined) return undefined;
        if (items === undefined) items = [message];
        else items.push(message);
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { items: items ?? NO_ITEMS };
}

export function readContentItem(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let role = 0;
  let digest: Slice = NO_BYTES;
  let nonce: Slice = NO_BYTES;
  let size = 0;
  let place = 0;
  let data: Slice = NO_BYTES;
  let labels: unknown[] | undefined = undefined as unknown[] | undefined;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (16 < value || value <= 0) return undefined;
        role = value;
        break;
      }
      case 18: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        digest = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 26: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        nonce = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 32: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value <= 0) return undefined;
        size = value;
        break;
      }
      case 40: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (5 < value || value <= 0) return undefined;
        place = value;
        break;
      }
      case 50: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        data = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 58: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        if (labels === undefined) labels = [text];
        else labels.push(text);
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { role: role, digest: digest, nonce: nonce, size: size, place: place, data: data, labels: labels ?? NO_ITEMS };
}

export function readProof(bytes: Uint8Array, from: number, end: number) {
  let at = from;
  let previous = 0;
  let length = 0;
  let stop = 0;
  let value = 0;
  let allowed = false;
  let ruleIds: unknown[] | undefined = undefined as unknown[] | undefined;
  let policyHash: Slice = NO_BYTES;
  let requestHash: Slice = NO_BYTES;
  let rationaleCode = "";
  let approve = "";
  let errors: unknown[] | undefined = undefined as unknown[] | undefined;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > 0x7f) {
      const high = bytes[at++] as number;
      if (high === 0 || high > 0x7f) return undefined;
      tag = (tag & 0x7f) | (high << 7);
    }
    switch (tag) {
      case 8: {
        if (tag <= previous) return undefined;
        value = bytes[at++] as number;
        if (value > 0x7f) {
          value = readLongVarint(bytes, at, value);
          at = longVarint.end;
        }
        if (value !== 1) return undefined;
        allowed = true;
        break;
      }
      case 18: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        if (ruleIds === undefined) ruleIds = [text];
        else ruleIds.push(text);
        at = stop;
        break;
      }
      case 26: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        policyHash = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 34: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        at = stop;
        break;
      }
      case 42: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        requestHash = new Slice(bytes, at, stop);
        at = stop;
        break;
      }
      case 50: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        if (!isUtf8(bytes, at, stop)) return undefined;
        at = stop;
        break;
      }
      case 58: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        rationaleCode = text;
        at = stop;
        break;
      }
      case 66: {
        if (tag <= previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length <= 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        approve = text;
        at = stop;
        break;
      }
      case 74: {
        if (tag < previous) return undefined;
        length = bytes[at++] as number;
        if (length > 0x7f) {
          length = readLongVarint(bytes, at, length);
          at = longVarint.end;
        }
        stop = at + length;
        if (stop > end || length < 0) return undefined;
        const text = readText(bytes, at, stop);
        if (text === undefined) return undefined;
        if (errors === undefined) errors = [text];
        else errors.push(text);
        at = stop;
        break;
      }
      default:
        return undefined;
    }
    previous = tag;
  }
  if (at !== end) return undefined;
  return { allowed: allowed, ruleIds: ruleIds ?? NO_ITEMS, policyHash: policyHash, requestHash: requestHash, rationaleCode: rationaleCode, approve: approve, errors: errors ?? NO_ITEMS };
}
