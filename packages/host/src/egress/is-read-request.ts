/** What of a request says whether it only reads. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly hasBody: boolean;
}

/**
 * Whether a request only reads: GET and HEAD without a body, and the two by which git asks what there is and what it lacks.
 *
 * SECURITY: a body carries data out whatever the method is called. Git fetches by POST: only that very message to that
 * very place counts as reading; it says no more than a URL could.
 */
export function isReadRequest({ method, path, contentType, hasBody }: RequestFacts): boolean {
  if (method === "GET" || method === "HEAD") return !hasBody && !/[?&]service=git-receive-pack(?:&|$)/.test(path);
  return (
    method === "POST" &&
    contentType === "application/x-git-upload-pack-request" &&
    /^[^?]*\/git-upload-pack$/.test(path)
  );
}
