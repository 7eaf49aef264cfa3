/**
 * The numbers of the generated enums that the store's threads need, checked against them by a test: loading every
 * generated message would double the time a thread takes to start.
 */
export const ROLE_REQUEST = 2;
export const PLACE_ROW = 1;
export const PLACE_FILE = 2;
export const PLACE_ELSEWHERE = 3;
export const PLACE_ERASED = 5;
export const ROLE_ARTIFACT = 11;
