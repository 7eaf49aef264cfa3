/** What policy is asked, besides the call itself, about a call that writes where agents usually have no business. */
export const PROTECTED_ACTION = "write_protected";
