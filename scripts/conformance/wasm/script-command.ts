/** A value of a script: its type, and its bits as decimal text, or the required kind of NaN. */
export interface ScriptValue {
  readonly type: string;
  readonly value: string | readonly string[] | undefined;
  readonly laneType: string | undefined;
}

export interface ScriptAction {
  readonly kind: "invoke" | "get";
  readonly module: string | undefined;
  readonly field: string;
  readonly values: readonly ScriptValue[];
}

/** One command of a script, as `wast2json` writes it. */
export interface ScriptCommand {
  readonly type: string;
  readonly line: number;
  readonly filename: string | undefined;
  readonly name: string | undefined;
  readonly as: string | undefined;
  /** `text` if the module is not available as bytes. */
  readonly moduleType: string | undefined;
  readonly action: ScriptAction | undefined;
  readonly expected: readonly ScriptValue[];
}

type Fields = Readonly<Record<string, unknown>>;

export function parseCommands(json: string): ScriptCommand[] {
  const script: unknown = JSON.parse(json);
  if (!isFields(script) || !Array.isArray(script["commands"])) throw new Error("wast2json wrote no commands");
  return script["commands"].filter(isFields).map((command) => ({
    type: String(command["type"]),
    line: Number(command["line"]),
    filename: text(command["filename"]),
    name: text(command["name"]),
    as: text(command["as"]),
    moduleType: text(command["module_type"]),
    action: isFields(command["action"]) ? parseAction(command["action"]) : undefined,
    expected: parseValues(command["expected"]),
  }));
}

function parseAction(action: Fields): ScriptAction {
  return {
    kind: action["type"] === "get" ? "get" : "invoke",
    module: text(action["module"]),
    field: text(action["field"]) ?? "",
    values: parseValues(action["args"]),
  };
}

function parseValues(values: unknown): ScriptValue[] {
  if (!Array.isArray(values)) return [];
  return values.filter(isFields).map((value) => ({
    type: String(value["type"]),
    value: Array.isArray(value["value"]) ? value["value"].map(String) : text(value["value"]),
    laneType: text(value["lane_type"]),
  }));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
