/**
 * Version of the protocol that a kernel and its clients speak on the sockets of a home. Raised when a message changes
 * in a way that an older client or kernel would misread; new methods and fields do not raise it.
 */
export const WIRE_PROTOCOL = 1;
