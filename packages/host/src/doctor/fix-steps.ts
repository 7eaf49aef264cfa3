import type { ContainmentCause } from "../sandbox/open-containment.ts";
import type { FixStep, Mechanism } from "./host-report.ts";

export interface FixFacts {
  readonly cause: ContainmentCause | undefined;
  readonly problem: string | undefined;
  readonly mechanisms: readonly Mechanism[];
  /** Path of bubblewrap, whether installed or not. */
  readonly bubblewrap: string;
  /** The current directory, if root owns it. */
  readonly rootOwned: string | undefined;
}

/** Debian packages by the mechanism that needs them. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ["git", "git"],
  ["perl", "perl-base"],
  ["process limits", "util-linux"],
]);

/** Returns the steps, in order, by which an administrator makes every mechanism work. */
export function fixSteps(facts: FixFacts): FixStep[] {
  const { cause, problem, mechanisms, bubblewrap, rootOwned } = facts;
  const failed = new Set(mechanisms.filter(({ state }) => state === "fails").map(({ name }) => name));
  const isMissing = problem !== undefined && /not installed/.test(problem);
  const packages = [
    ...(isMissing ? [/prlimit/.test(problem) ? "util-linux" : "bubblewrap"] : []),
    ...[...PACKAGES].filter(([name]) => failed.has(name)).map(([, name]) => name),
  ];
  const steps: FixStep[] = [];
  if (packages.length > 0) {
    steps.push({
      title: "install what is missing (or your system's packages of it)",
      lines: [`sudo apt-get install ${packages.join(" ")}`],
    });
  }
  if (problem !== undefined && /setuid root/.test(problem)) {
    steps.push({ title: "take root's rights from bubblewrap", lines: [`sudo chmod u-s ${bubblewrap}`] });
  }
  if (cause === "apparmor") steps.push(appArmorProfile(bubblewrap));
  if (cause === "namespaces" || cause === "masked-proc") steps.push(CONTAINER);
  if (cause === "namespaces") steps.push(SYSTEM_SETTINGS);
  if (failed.has("control groups")) steps.push(DELEGATION);
  const workspace = mechanisms.find(({ name, state }) => name === "workspace" && state === "fails");
  if (rootOwned !== undefined) steps.push(chownStep(rootOwned));
  else if (workspace !== undefined) steps.push({ title: `${workspace.advice}: ${workspace.found}`, lines: [] });
  return steps;
}

/** The minimal profile: it confines nothing, and only allows what the system forbids by default. */
function appArmorProfile(bubblewrap: string): FixStep {
  return {
    title: "let bubblewrap, and nothing else, use user namespaces",
    lines: [
      "sudo tee /etc/apparmor.d/bwrap <<'END'",
      "abi <abi/4.0>,",
      "include <tunables/global>",
      "",
      `profile bwrap ${bubblewrap} flags=(unconfined) {`,
      "  userns,",
      "",
      "  include if exists <local/bwrap>",
      "}",
      "END",
      "sudo apparmor_parser -r /etc/apparmor.d/bwrap",
    ],
  };
}

const CONTAINER: FixStep = {
  title: "in a container: start it so that sandboxes can be made inside",
  lines: [
    "docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined --security-opt apparmor=unconfined ...",
    "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL ...",
  ],
};

const SYSTEM_SETTINGS: FixStep = {
  title: "elsewhere: allow user namespaces (the first setting is Debian's alone)",
  lines: ["sudo sysctl -w kernel.unprivileged_userns_clone=1", "sudo sysctl -w user.max_user_namespaces=15000"],
};

const DELEGATION: FixStep = {
  title: "to have totals enforced by the system (not needed: the watchdog stands in)",
  lines: ["systemd-run --user --scope -p Delegate=yes narthex serve"],
};

function chownStep(workspace: string): FixStep {
  const quoted = `'${workspace.replaceAll("'", "'\\''")}'`;
  return {
    title: "let tools write in this directory: hand it to a user",
    lines: [`sudo chown -R USER ${quoted}`],
  };
}
