/** Names from OpenTelemetry's conventions for generative AI, which may still change, and Narthex's own names. */
export const OPERATION = "gen_ai.operation.name";
export const EXECUTE_TOOL = "execute_tool";
export const TOOL_NAME = "gen_ai.tool.name";
export const TOOL_TYPE = "gen_ai.tool.type";
export const CALL_ID = "gen_ai.tool.call.id";
export const ERROR_TYPE = "error.type";
export const SESSION_ID = "narthex.session.id";
export const DOOR = "narthex.door";
export const STATUS = "narthex.status";
export const STAGE_PREFIX = "narthex.";
