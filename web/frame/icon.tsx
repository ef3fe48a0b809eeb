export const Icon = ({ path }: { readonly path: string }) => (
  <svg
    width="18"
    height="18"
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    aria-hidden="true"
    style={{ flexShrink: 0 }}
  >
    <path d={path} strokeLinecap="round" strokeLinejoin="round" />
  </svg>
)

export const MARK = 'M2 6c3-3 5 3 8 0s5 3 8 0M2 11c3-3 5 3 8 0s5 3 8 0M10 15v4M5 15v2M15 15v2'
export const FIND = 'M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4'
export const MORE = 'M3 5.5h14M3 10h14M3 14.5h14'
export const FOLD = 'M12 5l-5 5 5 5'
export const UNFOLD = 'M8 5l5 5-5 5'
