import { element } from "./element.js";
import { showText } from "./shown-text.js";

/** Shows workspaces whose protected paths could not be restored, so that a user has to check them. */
export function showUnsafe(unsafe, alerts) {
  alerts.replaceChildren(
    ...unsafe.map(({ workspace, problem }) =>
      element(
        "p",
        { class: "banner", role: "alert" },
        element("strong", {}, "No program runs in ", ...showText(workspace), "."),
        " Protected paths may not be as they were: ",
        ...showText(problem),
        ". Look at them, then run narthex doctor --accept with this workspace.",
      ),
    ),
  );
}
