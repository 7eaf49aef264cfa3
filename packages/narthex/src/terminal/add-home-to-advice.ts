/** A command in a sentence: at its beginning, or after a backtick. */
const COMMAND = /(^|`)narthex (?!--data )/g;

/** Adds the home of this command line to the commands in an advice text. */
export function addHomeToAdvice(text: string, { program }: { readonly program: string }): string {
  return text.replaceAll(COMMAND, (_, before: string) => `${before}${program} `);
}
