/**
 * Options with which a program does only what its name says. Any other option may carry code or name a file to write.
 */
export interface PlainOptions {
  /** Options without a value. */
  readonly flags: ReadonlySet<string>;
  /** Options with a value: `--opt VALUE`, `--opt=VALUE`, and `-kVALUE` where letters can be joined. */
  readonly values: ReadonlySet<string>;
  /** Options without a value or with an attached one: `--opt`, `--opt=VALUE`, `-j4`. */
  readonly attached: ReadonlySet<string>;
  /** Allowed values of options that accept only some. */
  readonly choices: ReadonlyMap<string, RegExp>;
  /** Other arguments that are allowed as a whole. */
  readonly pattern: RegExp | undefined;
  /** Whether short options can be joined: `-qx` is `-q -x`. */
  readonly joined: boolean;
  /** Pattern of valid operands, also after `--`. */
  readonly operand: RegExp;
  /** Options that are valid after `--`; if undefined, only operands are valid there. */
  readonly rest: PlainOptions | undefined;
}

export interface ReadOptions {
  /** Whether some argument is not known to be harmless. */
  readonly unknown: boolean;
  /** Arguments that are neither options nor their values; complete unless `unknown` is set. */
  readonly operands: readonly string[];
}

/**
 * Parses arguments as the program will.
 * SECURITY: only full names are known, so an abbreviation is unknown. A value that looks like an option counts as an
 * option: a program that parsed it differently from this function could otherwise be given any option in its place.
 */
export function readOptions(args: readonly string[], plain: PlainOptions): ReadOptions {
  const operands: string[] = [];
  const unknown = { unknown: true, operands };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") {
      const rest = args.slice(at + 1);
      if (plain.rest !== undefined) return { ...readOptions(rest, plain.rest), operands };
      return { unknown: !rest.every((operand) => plain.operand.test(operand)), operands: [...operands, ...rest] };
    }
    if (!arg.startsWith("-")) {
      if (!plain.operand.test(arg)) return unknown;
      operands.push(arg);
      continue;
    }
    const taken = readOption(arg, args[at + 1], plain);
    if (taken === undefined) return unknown;
    at += taken;
  }
  return { unknown: false, operands };
}

/** The number of following arguments that belong to the option; undefined for an unknown option. */
function readOption(arg: string, next: string | undefined, plain: PlainOptions): 0 | 1 | undefined {
  if (plain.flags.has(arg) || plain.attached.has(arg) || plain.pattern?.test(arg) === true) return 0;
  if (plain.values.has(arg)) return isValue(arg, next, plain) ? 1 : undefined;
  const equals = arg.indexOf("=");
  const name = equals === -1 ? arg : arg.slice(0, equals);
  if (equals !== -1 && (plain.values.has(name) || plain.attached.has(name))) {
    return isChoice(name, arg.slice(equals + 1), plain) ? 0 : undefined;
  }
  return plain.joined && !arg.startsWith("--") ? readLetters(arg, next, plain) : undefined;
}

function readLetters(arg: string, next: string | undefined, plain: PlainOptions): 0 | 1 | undefined {
  for (let at = 1; at < arg.length; at++) {
    const name = `-${arg.charAt(at)}`;
    const rest = arg.slice(at + 1);
    if (plain.attached.has(name)) return isChoice(name, rest, plain) ? 0 : undefined;
    if (plain.values.has(name)) {
      if (rest === "") return isValue(name, next, plain) ? 1 : undefined;
      return isChoice(name, rest, plain) ? 0 : undefined;
    }
    if (!plain.flags.has(name)) return undefined;
  }
  return arg === "-" ? undefined : 0;
}

function isValue(name: string, value: string | undefined, plain: PlainOptions): boolean {
  if (value === undefined || (value.startsWith("-") && value !== "-") || !plain.operand.test(value)) return false;
  return isChoice(name, value, plain);
}

function isChoice(name: string, value: string, { choices }: PlainOptions): boolean {
  return choices.get(name)?.test(value) ?? true;
}

/** Options as lists of names separated by blanks. */
export interface OptionWords {
  readonly flags?: string;
  readonly values?: string;
  readonly attached?: string;
  readonly choices?: Readonly<Record<string, RegExp>>;
  readonly pattern?: RegExp;
  readonly joined?: true;
  readonly operand?: RegExp;
  readonly rest?: PlainOptions;
}

export function plainOptions(words: OptionWords): PlainOptions {
  return {
    flags: namesIn(words.flags),
    values: namesIn(words.values),
    attached: namesIn(words.attached),
    choices: new Map(Object.entries(words.choices ?? {})),
    pattern: words.pattern,
    joined: words.joined ?? false,
    operand: words.operand ?? /^(?!-)/,
    rest: words.rest,
  };
}

function namesIn(words = ""): ReadonlySet<string> {
  return new Set(words.split(/\s+/).filter((name) => name !== ""));
}
