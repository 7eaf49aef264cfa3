import { element } from "./element.js";
import { plainText, showText } from "./shown-text.js";

/** Shows the state of the policy in one line, and in a banner if it is not as expected. */
export function showPolicy(policy, line, banners) {
  const facts = [
    element("span", {}, `${policy.rules} ${policy.rules === 1 ? "rule" : "rules"}`),
    element("span", { class: policy.mode === "observe" ? "observe" : "" }, policy.mode),
    element("span", {}, ...showText(policy.engine)),
    element("span", { class: "dim", title: policy.hash }, policy.hash.slice(0, 8)),
  ];
  // Without a policy there are no rules, engine or hash to show.
  line.replaceChildren(...(policy.hash === "" ? [element("span", { class: "observe" }, "no policy in force")] : facts));
  line.title = plainText(policy.directory);
  banners.replaceChildren(
    ...(policy.mode === "observe"
      ? [banner("Observe mode.", "Refusals by policy are recorded and not carried out: nothing is stopped by a rule.")]
      : []),
    ...(plainText(policy.problem) === ""
      ? []
      : [banner("No policy is in force; every call is denied.", ...showText(policy.problem))]),
    ...policy.warnings.map((warning) => banner("A rule does not do what it says.", ...showText(warning))),
    ...(plainText(policy.fallback) === ""
      ? []
      : [element("p", { class: "banner calm" }, "The slower evaluator is used: ", ...showText(policy.fallback))]),
  );
}

function banner(title, ...text) {
  return element("p", { class: "banner", role: "alert" }, element("strong", {}, title), " ", ...text);
}
