/**
 * Whether a request only reads: GET, HEAD, and the two by which git asks what there is and what it lacks.
 *
 * SECURITY: git fetches by POST. Only that very message to that very place counts as reading; it says no more than a
 * URL could.
 */
export function isReading(method: string, path: string, contentType: string | undefined): boolean {
  if (method === "GET" || method === "HEAD") return !/[?&]service=git-receive-pack(?:&|$)/.test(path);
  return (
    method === "POST" &&
    contentType === "application/x-git-upload-pack-request" &&
    /^[^?]*\/git-upload-pack$/.test(path)
  );
}
