import { type Configuration, createConfiguration } from "./configuration.ts";
import { ConfigurationProblems } from "./configuration-problems.ts";
import { parseYaml } from "./parse-yaml.ts";
import { readSettings } from "./read-settings.ts";

/** Parses the text of a `narthex.yaml`. Throws CONFIG_INVALID with every problem. */
export function parseConfiguration(text: string, file: string): Configuration {
  const problems = new ConfigurationProblems(file);
  const yaml = parseYaml(text, problems);
  const read = yaml === undefined ? undefined : readSettings(yaml, problems);
  problems.throwIfAny();
  return createConfiguration(read?.settings ?? new Map(), read?.sections);
}
