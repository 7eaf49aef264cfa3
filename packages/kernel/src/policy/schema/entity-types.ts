import type { JsonObject } from "@narthex/contracts";
import { type RecordShape, recordShape, required, STRING } from "./cedar-shape.ts";
import { shapeToCedar } from "./shape-to-cedar.ts";

/** The entity types of the schema. SPEC: docs/formats/policy.md, entities. */
export function entityTypes(): JsonObject {
  return {
    Agent: { memberOfTypes: ["Tenant", "User"], shape: shapeToCedar(texts("name", "user", "tenant", "session")) },
    User: { memberOfTypes: ["Tenant"], shape: shapeToCedar(texts("name", "tenant")) },
    Tenant: { shape: shapeToCedar(texts("name")) },
    Workspace: { shape: shapeToCedar(texts("path")) },
  };
}

function texts(...names: readonly string[]): RecordShape {
  return recordShape(names.map((name) => required(name, STRING)));
}
