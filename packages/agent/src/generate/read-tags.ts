import {
  type Determinism,
  DETERMINISM_LEVELS,
  type Effect,
  EFFECTS,
  nearestName,
  quoteText,
  SAFETY_TIERS,
  type SafetyTier,
} from "@narthex/kernel";
import type { JSDocTag } from "ts-morph";
import { plainText } from "./doc-text.ts";
import type { SourceProblems } from "./source-problems.ts";

/** The settings in the tags of a function's doc comment. Undefined for a tag that is missing. */
export interface ToolTags {
  readonly name: string | undefined;
  readonly tier: SafetyTier | undefined;
  readonly determinism: Determinism | undefined;
  readonly effects: readonly Effect[] | undefined;
  readonly version: string | undefined;
}

/** A tag with its text. */
interface Setting {
  readonly tag: JSDocTag;
  readonly words: readonly string[];
}

const OWN_TAGS = ["tool", "tier", "determinism", "effects", "version", "param", "integer"] as const;

/** Tags of JSDoc that look similar to one of those. */
const OTHER_TAGS: ReadonlySet<string> = new Set([
  "arg",
  "category",
  "emits",
  "event",
  "exports",
  "extends",
  "inner",
  "internal",
  "override",
  "overview",
  "prop",
  "returns",
  "todo",
  "var",
  "variation",
]);

/** Reads the tags; reports each invalid one at its position. */
export function readTags(tags: readonly JSDocTag[], problems: SourceProblems): ToolTags {
  const find = (name: string): Setting | undefined => findSetting(tags, name, problems);
  const oneWord = (setting: Setting | undefined): Setting | undefined => {
    if (setting !== undefined && setting.words.length !== 1) {
      problems.add(setting.tag, `\`@${setting.tag.getTagName()}\` takes one word`);
      return undefined;
    }
    return setting;
  };
  refuseMisspelt(tags, problems);
  const version = oneWord(find("version"));
  return {
    name: readName(find("tool"), problems),
    tier: readChoices(oneWord(find("tier")), SAFETY_TIERS, problems)?.[0],
    determinism: readChoices(oneWord(find("determinism")), DETERMINISM_LEVELS, problems)?.[0],
    effects: readEffects(find("effects"), problems),
    version: version?.words[0],
  };
}

/** Reports misspelt tags, because the setting in one would be lost silently. */
function refuseMisspelt(tags: readonly JSDocTag[], problems: SourceProblems): void {
  for (const tag of tags) {
    const name = tag.getTagName();
    const near = OTHER_TAGS.has(name) ? undefined : nearestName(name, OWN_TAGS);
    if (near !== undefined && near !== name) {
      problems.add(tag, `${quoteText(`@${name}`)} says nothing of a tool: did you mean \`@${near}\`?`);
    }
  }
}

function findSetting(tags: readonly JSDocTag[], name: string, problems: SourceProblems): Setting | undefined {
  const [tag, second] = tags.filter((one) => one.getTagName() === name);
  if (second !== undefined) problems.add(second, `\`@${name}\` is there twice`);
  if (tag === undefined) return undefined;
  const words = plainText(tag.getCommentText()).split(/[\s,]+/);
  return { tag, words: words.filter((word) => word !== "") };
}

function readName(setting: Setting | undefined, problems: SourceProblems): string | undefined {
  if (setting === undefined || setting.words.length < 2) return setting?.words[0];
  problems.add(setting.tag, "`@tool` takes a name or nothing: the description stands before the first tag");
  return undefined;
}

function readEffects(setting: Setting | undefined, problems: SourceProblems): readonly Effect[] | undefined {
  if (setting?.words.length === 0) problems.add(setting.tag, "`@effects` names none: leave it out");
  return readChoices(setting, EFFECTS, problems);
}

function readChoices<T extends string>(
  setting: Setting | undefined,
  known: readonly T[],
  problems: SourceProblems,
): readonly T[] | undefined {
  return setting?.words.flatMap((word) => {
    const match = known.find((one) => one === word);
    if (match !== undefined) return [match];
    const name = setting.tag.getTagName();
    problems.add(setting.tag, `\`@${name}\` takes ${known.join(", ")}, and not ${quoteText(word)}`);
    return [];
  });
}
