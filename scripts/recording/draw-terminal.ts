import type { StyledLine } from "./styled-line.ts";

/** Lines that appear together, some time after the previous ones. */
export interface Scene {
  readonly afterMs: number;
  readonly lines: readonly StyledLine[];
}

const CHARACTER = 8.4;
const LINE = 20;
const MARGIN = 18;
const TITLE_BAR = 34;

const CSS = `
  text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6dbe4; white-space: pre; }
  .bold { font-weight: 700; } .dim { fill: #8b93a3; }
  .red { fill: #ff8080; } .green { fill: #7ddc8f; } .yellow { fill: #ecc46a; } .cyan { fill: #76cfe0; }
  .scene { animation: appear 1ms linear both; }
  @keyframes appear { from { opacity: 0 } to { opacity: 1 } }
  @media (prefers-reduced-motion: reduce) { .scene { animation: none } }`;

/**
 * Draws a terminal as an SVG. Each scene appears after the previous one, and the last frame shows all of them: readers
 * without animations, or with reduced motion, see that one.
 */
export function drawTerminal(scenes: readonly Scene[], columns: number, title: string): string {
  const rows = scenes.reduce((sum, { lines }) => sum + lines.length, 0);
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = TITLE_BAR + rows * LINE + 2 * MARGIN;
  let delayMs = 0;
  let row = 0;
  const groups = scenes.map(({ afterMs, lines }) => {
    delayMs += afterMs;
    const texts = lines.map((line) => drawLine(line, TITLE_BAR + MARGIN + (row++ + 0.75) * LINE));
    return `<g class="scene" style="animation-delay:${delayMs}ms">${texts.join("")}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">
<style>${CSS}
</style>
<rect width="${width}" height="${height}" rx="9" fill="#171b22"/>
<g fill="#3b4350">${[0, 1, 2].map((dot) => `<circle cx="${MARGIN + 4 + dot * 18}" cy="${TITLE_BAR / 2 + 3}" r="5.5"/>`).join("")}</g>
${groups.join("\n")}
</svg>
`;
}

function drawLine(line: StyledLine, y: number): string {
  let column = 0;
  const spans = line.map(({ text, styles }) => {
    const x = MARGIN + column * CHARACTER;
    column += text.length;
    // The length keeps columns aligned with any monospaced font.
    const length = (text.length * CHARACTER).toFixed(1);
    return `<tspan x="${x.toFixed(1)}" textLength="${length}" class="${styles.join(" ")}">${escape(text)}</tspan>`;
  });
  return spans.length === 0 ? "" : `<text xml:space="preserve" y="${y}">${spans.join("")}</text>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
