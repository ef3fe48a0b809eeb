/** News that a run may show to its user; `message` is a text without secrets. */
export type HttpEvent =
  | { readonly kind: 'waiting'; readonly message: string; readonly until: Date }
  | { readonly kind: 'retrying'; readonly message: string; readonly attempt: number; readonly delayMs: number }
  | { readonly kind: 'credential-lost'; readonly message: string; readonly credential: string }
  | { readonly kind: 'page-resized'; readonly message: string; readonly from: number; readonly to: number }
