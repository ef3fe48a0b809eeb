import { Drawer } from '@mantine/core'
import type { KeyAnswer } from '../api/description.ts'
import { Items, type Whose } from '../explain/items.tsx'
import type { Period } from '../projects/keys.ts'
import { daysOf } from './time-scale.ts'

interface ItemsDrawerProps {
  readonly of: KeyAnswer | undefined
  readonly whose: Whose
  readonly period: Period
  readonly onClose: () => void
}

/** The items that a figure, a card or a week is made of: just those that count. */
export const ItemsDrawer = ({ of, whose, period, onClose }: ItemsDrawerProps) => (
  <Drawer
    opened={of !== undefined}
    onClose={onClose}
    position="right"
    size={620}
    title={of && `${of.title}, ${daysOf(period)}: what counts`}
  >
    {of && <Items metric={of.metric} unit={of.unit} whose={whose} period={period} reason="counted" />}
  </Drawer>
)
