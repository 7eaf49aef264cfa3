/** A source that breaks one rule, and all expected messages, each as `line:column: message`. */
export interface WrongSource {
  readonly rule: string;
  readonly source: string;
  readonly problems: readonly string[];
}

/** The source of a marked function with this signature. */
export const tool = (signature: string, before = ""): string => `${before}\n/** Does it.\n * @tool */\n${signature}\n`;
export const taking = (parameters: string, before = ""): string =>
  tool(`export async function f(${parameters}): Promise<void> {}`, before);
export const answering = (result: string, before = ""): string =>
  tool(`export async function f(): Promise<${result}> { throw new Error(); }`, before);
export const tagged = (tags: string): string =>
  `/** Does it.\n * @tool\n${tags} */\nexport async function f(a: string, n: number): Promise<void> {}\n`;
