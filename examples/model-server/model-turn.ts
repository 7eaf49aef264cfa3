/** One message of a model: a call, with its arguments as the model wrote them, or an answer. */
export type ModelTurn = { readonly call: string; readonly arguments: string } | { readonly answer: string };
