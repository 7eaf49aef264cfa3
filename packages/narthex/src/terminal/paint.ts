import { styleText } from "node:util";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Colours for one stream. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export interface PaintSurface {
  readonly isTTY?: boolean;
}

/** Paints only on a terminal, and never if NO_COLOR is set or the terminal is dumb. */
export function createPaint(surface: PaintSurface, environment: NodeJS.ProcessEnv): Paint {
  const refused = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  const apply = (style: Style) => (text: string) =>
    surface.isTTY === true && !refused ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: apply("bold"),
    dim: apply("dim"),
    red: apply("red"),
    green: apply("green"),
    yellow: apply("yellow"),
    cyan: apply("cyan"),
  };
}
