/** The properties of a request that decide whether it only reads. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly hasBody: boolean;
}

/**
 * Whether a request only reads: GET and HEAD without a body, and the two requests by which git lists refs and fetches
 * objects.
 *
 * SECURITY: a body sends data out, whatever the method is called. Git fetches by POST: only this exact message to this
 * exact path counts as reading, because it discloses no more than a URL could.
 */
export function isReadRequest({ method, path, contentType, hasBody }: RequestFacts): boolean {
  if (method === "GET" || method === "HEAD") return !hasBody && !/[?&]service=git-receive-pack(?:&|$)/.test(path);
  return (
    method === "POST" &&
    contentType === "application/x-git-upload-pack-request" &&
    /^[^?]*\/git-upload-pack$/.test(path)
  );
}
