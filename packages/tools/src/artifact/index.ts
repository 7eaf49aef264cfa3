export { artifactGet } from "./artifact-get.ts";
export { artifactPublish } from "./artifact-publish.ts";
