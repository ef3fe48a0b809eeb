/** Saves a panel as a picture that contains title, range and source. */
import type { EChartsType } from 'echarts/core'

interface PictureText {
  readonly title: string
  readonly range: string
  readonly source: string
}

const SCALE = 2
const EDGE = 24
const HEAD = 68
const FOOT = 36

export async function savePicture(chart: EChartsType, text: PictureText): Promise<void> {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const image = new Image()
  image.src = chart.getDataURL({ type: 'png', pixelRatio: SCALE, backgroundColor: colour('--surface') })
  await image.decode()
  const [width, height] = [chart.getWidth() + 2 * EDGE, chart.getHeight() + HEAD + FOOT]
  const canvas = document.createElement('canvas')
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  const brush = canvas.getContext('2d') as CanvasRenderingContext2D
  brush.scale(SCALE, SCALE)
  brush.fillStyle = colour('--surface')
  brush.fillRect(0, 0, width, height)
  const write = (words: string, y: number, size: number, weight: number, name: string) => {
    brush.font = `${weight} ${size}px 'Inter Variable', system-ui, sans-serif`
    brush.fillStyle = colour(name)
    brush.fillText(words, EDGE, y, width - 2 * EDGE)
  }
  write(text.title, 30, 16, 600, '--text')
  write(text.range, 52, 13, 400, '--text-quiet')
  brush.drawImage(image, EDGE, HEAD, chart.getWidth(), chart.getHeight())
  write(text.source, height - 14, 12, 400, '--text-faint')
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (blob) download(URL.createObjectURL(blob), `${fileName(text.title)}.png`)
}

export const fileName = (title: string): string => title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').toLowerCase() || 'panel'

function download(address: string, name: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
