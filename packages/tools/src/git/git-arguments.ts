import { MAX_ARG_LEN, MAX_REPEATED_ITEMS, type Violation } from "@narthex/contracts";
import { checkGitUrl } from "./check-git-url.ts";
import { GIT_GRAMMARS, type GitGrammar } from "./git-grammars.ts";
import { GIT_OPERATION_FACTS, type GitOperationName, isGitOperation } from "./git-operations.ts";

export interface GitRequest {
  readonly operation: string;
  readonly args?: readonly string[];
}

export interface GitArgumentOptions {
  /** Allowed schemes of repository addresses; `file` allows paths. */
  readonly protocols?: readonly string[];
}

/** Git's arguments after the prefix, or every problem of the request. */
export type GitArguments =
  | {
      readonly operation: GitOperationName;
      readonly argv: readonly string[];
      /** The arguments that are not options: addresses, names and paths. */
      readonly operands: readonly string[];
    }
  | { readonly violations: readonly Violation[] };

const DEFAULT_PROTOCOLS = ["https", "http", "ssh"];
const TRAVERSAL = /(?:^|\/)\.\.(?:\/|$)/;
const SHOWN_CHARACTERS = 60;

/**
 * Builds the arguments of an operation. The caller's arguments are parsed by the operation's grammar and built again
 * from the result, each option on its own, so that git cannot interpret them differently from this check.
 * SECURITY: the arguments are controlled by an attacker. Only what is in the grammar passes, and after `--` there are
 * only paths.
 */
export function gitArguments(request: GitRequest, options: GitArgumentOptions = {}): GitArguments {
  const { operation, args = [] } = request;
  if (!isGitOperation(operation)) {
    const names = Object.keys(GIT_OPERATION_FACTS).join(", ");
    return { violations: [{ field: "operation", rule: "one_of", message: `must be one of ${names}` }] };
  }
  const violations = checkTexts(args);
  if (violations.length > 0) return { violations };
  const whole = GIT_GRAMMARS[operation];
  const command = [GIT_OPERATION_FACTS[operation].command];
  let grammar = whole;
  let start = 0;
  if (whole.subcommands !== undefined) {
    const [first = ""] = args;
    const name = first.startsWith("-") ? "" : first;
    const found = whole.subcommands.get(name);
    if (found === undefined) {
      const names = [...whole.subcommands.keys()].filter((known) => known !== "").join(", ");
      return { violations: [violation(0, "one_of", `must be an option or one of ${names}`)] };
    }
    grammar = found;
    if (name !== "") {
      command.push(name);
      start = 1;
    }
  }
  const reader = new ArgumentReader(grammar, args, new Set(options.protocols ?? DEFAULT_PROTOCOLS));
  const read = reader.read(start);
  if (reader.violations.length > 0) return { violations: reader.violations };
  const { alone, operands } = reader;
  return { operation, argv: [...command, ...(alone ? [] : grammar.forced), ...read], operands };
}

/** Parser of the arguments of one operation. */
class ArgumentReader {
  readonly violations: Violation[] = [];
  readonly operands: string[] = [];
  alone = false;
  readonly #grammar: GitGrammar;
  readonly #args: readonly string[];
  readonly #protocols: ReadonlySet<string>;
  readonly #read: string[] = [];

  constructor(grammar: GitGrammar, args: readonly string[], protocols: ReadonlySet<string>) {
    this.#grammar = grammar;
    this.#args = args;
    this.#protocols = protocols;
  }

  read(start: number): readonly string[] {
    let ended = false;
    for (let at = start; at < this.#args.length; at++) {
      const arg = this.#args[at] ?? "";
      if (ended || !arg.startsWith("-") || (arg === "-" && this.#grammar.dash)) this.#operand(at, arg, ended);
      else if (arg === "--") {
        ended = true;
        this.#read.push(arg);
      } else if (arg.startsWith("--")) at = this.#longOption(at, arg);
      else at = this.#shortOptions(at, arg);
    }
    if (this.alone && this.#read.length > 1) {
      this.violations.push(violation(start, "exclusive", "must be the only argument of such an operation"));
    }
    return this.#read;
  }

  #operand(at: number, operand: string, ended: boolean): void {
    const { urls, remoteNames, inside, paths } = this.#grammar;
    const index = this.operands.push(operand) - 1;
    this.#read.push(operand);
    if (ended && !paths && operand.startsWith("-")) {
      return this.#refuse(at, "format", "must not start with a dash: it is no path");
    }
    if (inside && (operand.startsWith("/") || TRAVERSAL.test(operand))) {
      return this.#refuse(at, "no_traversal", "must not be an absolute path or contain `..` as a component");
    }
    if (!urls.includes(index)) return;
    const rules = { protocols: this.#protocols };
    const message = checkGitUrl(operand, remoteNames ? { ...rules, remoteName: true } : rules);
    if (message !== undefined) this.#refuse(at, "format", message);
  }

  /** Returns the index of the option's last argument. */
  #longOption(at: number, arg: string): number {
    const { flags, values, attached, lastDefaults, alone } = this.#grammar;
    const equals = arg.indexOf("=");
    const name = equals === -1 ? arg : arg.slice(0, equals);
    const value = equals === -1 ? undefined : arg.slice(equals + 1);
    if (value === undefined && flags.has(name)) {
      if (alone.has(name)) this.alone = true;
      this.#read.push(name);
    } else if (value !== undefined && (attached.has(name) || values.has(name) || lastDefaults.has(name))) {
      this.#value(at, name, value);
      this.#read.push(arg);
    } else if (attached.has(name)) this.#read.push(name);
    else if (lastDefaults.has(name)) return this.#nextIfAny(at, name);
    else if (values.has(name)) return this.#nextValue(at, name, (next) => [`${name}=${next}`]);
    else this.#unknown(at, name);
    return at;
  }

  /** `-am MESSAGE` is `-a -m MESSAGE`; each becomes a separate argument. */
  #shortOptions(at: number, arg: string): number {
    const { flags, values, attached, count } = this.#grammar;
    if (count && /^-\d{1,9}$/.test(arg)) {
      this.#read.push("-n", arg.slice(1));
      return at;
    }
    for (let index = 1; index < arg.length; index++) {
      const name = `-${arg.charAt(index)}`;
      const rest = arg.slice(index + 1);
      if (values.has(name)) {
        if (rest === "") return this.#nextValue(at, name, (next) => [name, next]);
        this.#value(at, name, rest);
        this.#read.push(name, rest);
        return at;
      }
      if (attached.has(name)) {
        this.#value(at, name, rest);
        this.#read.push(`${name}${rest}`);
        return at;
      }
      if (!flags.has(name)) {
        this.#unknown(at, arg === name ? arg : `${name}\` in \`${arg}`);
        return at;
      }
      this.#read.push(name);
    }
    if (arg === "-") this.#unknown(at, arg);
    return at;
  }

  #nextValue(at: number, name: string, written: (value: string) => string[]): number {
    const next = this.#args[at + 1];
    if (next === undefined) {
      this.#refuse(at, "required", `must be followed by a value`);
      return at;
    }
    this.#value(at + 1, name, next);
    this.#read.push(...written(next));
    return at + 1;
  }

  #nextIfAny(at: number, name: string): number {
    const next = this.#args[at + 1];
    if (next === undefined) {
      this.#read.push(name);
      return at;
    }
    // Git would take even `--` as the value.
    if (next.startsWith("-")) this.#refuse(at + 1, "format", "must not start with a dash");
    this.#read.push(`${name}=${next}`);
    return at + 1;
  }

  #value(at: number, name: string, value: string): void {
    const choice = this.#grammar.choices.get(name);
    if (choice !== undefined && !choice.test(value))
      this.#refuse(at, "one_of", `is no value that \`${name}\` may have`);
  }

  #unknown(at: number, option: string): void {
    const shown = option.length > SHOWN_CHARACTERS ? `${option.slice(0, SHOWN_CHARACTERS)}...` : option;
    this.#refuse(at, "not_allowed", `must not be given: \`${shown}\` is not an option that this operation allows`);
  }

  #refuse(at: number, rule: string, message: string): void {
    this.violations.push(violation(at, rule, message));
  }
}

function checkTexts(args: readonly string[]): Violation[] {
  if (args.length > MAX_REPEATED_ITEMS) {
    return [{ field: "args", rule: "max_items", message: `must have at most ${MAX_REPEATED_ITEMS} entries` }];
  }
  const violations: Violation[] = [];
  for (const [at, arg] of args.entries()) {
    if (arg.includes("\0")) violations.push(violation(at, "no_nul", "must not contain a NUL character"));
    if (!arg.isWellFormed()) violations.push(violation(at, "format", "must not contain half a surrogate pair"));
    if (Buffer.byteLength(arg) > MAX_ARG_LEN) {
      violations.push(violation(at, "max_length", `must have at most ${MAX_ARG_LEN} bytes in UTF-8`));
    }
  }
  return violations;
}

function violation(at: number, rule: string, message: string): Violation {
  return { field: `args[${at}]`, rule, message };
}
