/** What is asked for by small requests. */
export const SMALL_BYTES = 1024;
/** What is asked for to see how fast bytes come through, in MB. */
export const BIG_MB = 64;
