/** The grid of a Grafana dashboard. */
const WHOLE_WIDTH = 24
const HALF_WIDTH = 12

interface Section<Panel> {
  readonly title?: string | undefined
  readonly panels: readonly Panel[]
}

/** Places panels from left to right, and in the next row when there is no room. */
export function layOut<Panel extends { readonly width?: number }>(
  sections: readonly Section<Panel>[],
  heightOf: (panel: Panel) => number,
  draw: (panel: Panel) => object,
): object[] {
  const laid: object[] = []
  let [x, y, rowHeight] = [0, 0, 0]
  const endRow = () => {
    y += rowHeight
    ;[x, rowHeight] = [0, 0]
  }
  for (const { title, panels } of sections) {
    endRow()
    if (title) {
      laid.push({
        id: laid.length + 1,
        type: 'row',
        title,
        collapsed: false,
        panels: [],
        gridPos: { x: 0, y, w: WHOLE_WIDTH, h: 1 },
      })
      y += 1
    }
    for (const panel of panels) {
      const { width = HALF_WIDTH } = panel
      const height = heightOf(panel)
      if (x + width > WHOLE_WIDTH) endRow()
      laid.push({ id: laid.length + 1, ...draw(panel), gridPos: { x, y, w: width, h: height } })
      x += width
      rowHeight = Math.max(rowHeight, height)
    }
  }
  return laid
}
