import { inTurn } from '../../api.ts'
import { trafficRunRoutes } from './runs.ts'
import { trafficSurveyRoutes } from './survey.ts'
import { switchPlanRoutes } from './switches.ts'

export const trafficRoutes = inTurn(switchPlanRoutes, trafficRunRoutes, trafficSurveyRoutes)
