/** Action of the additional policy request for each write to a protected path. */
export const PROTECTED_ACTION = "write_protected";
