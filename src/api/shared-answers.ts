/** Requests that ask the same at the same moment share one answer, unless something has changed since it was begun. */
export interface SharedAnswers {
  share(question: string, answer: () => Promise<unknown>): Promise<string>
  /** Stops sharing answers begun before, which may not show the change. */
  changed(): void
}

export function sharedAnswers(): SharedAnswers {
  const underWay = new Map<string, Promise<string>>()
  return {
    share(question, answer) {
      const known = underWay.get(question)
      if (known) return known
      const begun = answer().then((value) => JSON.stringify(value))
      underWay.set(question, begun)
      const forget = () => {
        if (underWay.get(question) === begun) underWay.delete(question)
      }
      begun.then(forget, forget)
      return begun
    },
    changed: () => underWay.clear(),
  }
}
