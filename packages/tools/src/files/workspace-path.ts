export { absolutePath, workspacePath } from "@narthex/kernel";
