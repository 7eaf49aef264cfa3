/**
 * Numbers of the generated enums that the store's threads need. A test compares them with the enums: loading all
 * generated messages would double the start time of a thread.
 */
export const ROLE_REQUEST = 2;
export const PLACE_ROW = 1;
export const PLACE_FILE = 2;
export const PLACE_ELSEWHERE = 3;
export const PLACE_ERASED = 5;
export const ROLE_ARTIFACT = 11;
