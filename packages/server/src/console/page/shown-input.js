import { ask } from "./connection.js";
import { element } from "./element.js";
import { size } from "./format.js";
import { countMarks, showText } from "./shown-text.js";

/** Shows the exact input of a call: its members one by one, and on demand its complete JSON. */
export function showInput(approvalId, input, onSeen) {
  return element(
    "div",
    { class: "input" },
    ...input.fields.map(showField),
    input.moreFields > 0
      ? element("p", { class: "warning" }, `${input.moreFields} more members are not shown here: see the exact JSON.`)
      : "",
    showMarkCounts(input),
    showJson(approvalId, input, onSeen),
  );
}

/** Whether all of it is shown without opening anything. */
export function isWhole({ fields, moreFields }) {
  return moreFields === 0 && fields.every(({ shown, size: total }) => shown >= total);
}

function showField({ name, text, size: total, shown, isText }) {
  const cut = shown < total;
  const box = element("pre", { class: isText ? "value text" : "value", tabindex: "0" }, ...showText(text));
  const label = name === "" ? "input" : name;
  return element(
    "div",
    { class: "field" },
    element("div", { class: "field-name" }, ...showText(label), cut || total > 400 ? ` (${total} characters)` : ""),
    box,
    cut
      ? element(
          "p",
          { class: "warning" },
          `Cut: ${shown} of ${total} characters are shown. The rest is in the exact JSON.`,
        )
      : "",
  );
}

function showMarkCounts({ fields }) {
  const counts = { hidden: 0, blank: 0, lookalike: 0 };
  for (const { name, text } of fields) {
    for (const shown of [name, text]) {
      const found = countMarks(shown);
      for (const kind of Object.keys(counts)) counts[kind] += found[kind];
    }
  }
  const told = [
    [counts.hidden, "hidden character"],
    [counts.lookalike, "lookalike"],
    [counts.blank, "unusual blank"],
  ]
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}${count === 1 ? "" : "s"}`);
  if (told.length === 0) return "";
  return element("p", { class: "warning" }, `Look closely: ${told.join(", ")}, marked with code points.`);
}

function showJson(approvalId, { bytes }, onSeen) {
  const box = element("pre", { class: "value", tabindex: "0" });
  const state = element("p", { class: "dim" });
  const more = element("button", { type: "button", class: "quiet" }, "Show more");
  const details = element(
    "details",
    { class: "json" },
    element("summary", {}, `Exact JSON, ${size(bytes)}`),
    box,
    state,
    more,
  );
  let offset = 0;
  async function load() {
    more.hidden = true;
    try {
      const part = await ask("input", { id: approvalId, offset });
      box.append(...showText(part.text));
      offset += part.shown;
      state.textContent = offset < part.size ? `${offset} of ${part.size} characters` : `all ${part.size} characters`;
      more.hidden = offset >= part.size;
      if (offset >= part.size) onSeen();
    } catch (error) {
      state.textContent = error.message;
    }
  }
  details.addEventListener("toggle", () => {
    if (details.open && offset === 0) void load();
  });
  more.addEventListener("click", load);
  more.hidden = true;
  return details;
}
