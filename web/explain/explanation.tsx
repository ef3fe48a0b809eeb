import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'
import { Asked, Band } from '../parts/parts.tsx'
import { count } from '../parts/words.ts'
import { gradeOf, type Period, saidText, useExplanation } from '../projects/keys.ts'
import { CureButton, Marked } from './cure.tsx'
import { Items } from './items.tsx'

interface ExplanationProps {
  readonly project: { readonly name: string }
  readonly metric: string | undefined
  readonly reason: string | undefined
  readonly period: Period
  /** Months shown by a page whose period can be made longer; left out on other pages. */
  readonly months?: number
  readonly onClose: () => void
  readonly onReason: (reason: string | undefined) => void
}

/** Leads from a number to the items that count, and to the items left out, with the reason and what to do about it. */
export function Explanation({ metric, onClose, ...rest }: ExplanationProps) {
  const metrics = useQuery({
    ...question('GET /v1/metrics'),
    enabled: metric !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const described = metrics.data?.find(({ name }) => name === metric)
  return (
    <Drawer
      opened={metric !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={described?.title ?? 'Explain'}
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {metric && (
        <>
          <Reasons metric={metric} unit={described?.unit ?? ''} {...rest} />
          <Items
            metric={metric}
            unit={described?.unit ?? ''}
            whose={{ project: rest.project.name }}
            period={rest.period}
            reason={rest.reason}
          />
        </>
      )}
    </Drawer>
  )
}

type Shown = Omit<ExplanationProps, 'metric' | 'onClose'> & { readonly metric: string; readonly unit: string }

function Reasons({ metric, unit, project, period, months = 12, reason, onReason }: Shown) {
  const explained = useExplanation(metric, project.name, period)
  return (
    <Asked of={explained} lines={3}>
      {(explanation) => {
        const { value, inWords, counted, against, total, leftOut, findings, places, definition } = explanation
        const grade = gradeOf(explanation)
        const band = grade?.band
        const shared = { project, places, months }
        return (
          <>
            <p className="quiet" style={{ marginBottom: 16 }}>
              {definition}
            </p>
            <div className="row" style={{ marginBottom: 12 }}>
              <b className="number" style={{ fontSize: 28 }}>
                {value === null || counted === 0 ? 'No value' : saidText(value, unit, inWords)}
              </b>
              {band && counted > 0 && <Band band={band} />}
            </div>
            {grade?.by && counted > 0 && (
              <p className="quiet" style={{ marginBottom: 12 }}>
                {grade.by}
              </p>
            )}
            {explanation.noGrade && (
              <p className="quiet" style={{ marginBottom: 12 }}>
                No grade: {explanation.noGrade.because}. {explanation.noGrade.remedy}
              </p>
            )}
            {findings.map(({ seen, remedy, cure }) => (
              <div key={seen} className="notice" style={{ display: 'block' }}>
                <p>
                  <Marked text={seen} />
                </p>
                <p className="small" style={{ margin: '4px 0 8px' }}>
                  <Marked text={remedy} />
                </p>
                <CureButton cure={cure} {...shared} />
              </div>
            ))}
            <h3 style={{ margin: '16px 0 4px' }}>
              {count(total)} {total === 1 ? 'item was' : 'items were'} looked at
            </h3>
            <div style={{ margin: '0 -10px 20px' }}>
              <Choice isChosen={reason === undefined} onChoose={() => onReason(undefined)} words="All" amount={total} />
              <Choice
                isChosen={reason === 'counted'}
                onChoose={() => onReason('counted')}
                words="They count"
                amount={counted}
              />
              {against !== null && counted > 0 && (
                <Choice
                  isChosen={reason === 'against'}
                  onChoose={() => onReason('against')}
                  words="Of these, they count against the number"
                  amount={against}
                />
              )}
              {leftOut
                .filter((each) => each.count > 0)
                .map((each) => (
                  <div key={each.reason}>
                    <Choice
                      isChosen={reason === each.reason}
                      onChoose={() => onReason(each.reason)}
                      words={each.meaning}
                      amount={each.count}
                    />
                    <div className="remedy small quiet">
                      <span>{each.remedy}</span>
                      <CureButton cure={each.cure} {...shared} />
                    </div>
                  </div>
                ))}
            </div>
          </>
        )
      }}
    </Asked>
  )
}

interface ChoiceProps {
  readonly isChosen: boolean
  readonly onChoose: () => void
  readonly words: string
  readonly amount: number
}

const Choice = ({ isChosen, onChoose, words, amount }: ChoiceProps) => (
  <button type="button" onClick={onChoose} aria-pressed={isChosen} className="choice">
    <span>{words}</span>
    <b className="number">{count(amount)}</b>
  </button>
)
