"""The published algorithms, their noise scales and their theorems, to the letter."""

from publicmoments.paper.descent import NoisyGradientDescent, PMTElasticNet
from publicmoments.paper.glm import PMTGLM, OracleLogisticRegression, PMTLogisticRegression
from publicmoments.paper.moments import Condition, OracleSecondMoment, PMTSecondMoment, Robustness
from publicmoments.paper.newton import (
    hessian_lipschitz,
    is_convergent,
    iterations,
    iterations_to_floor,
    logistic_curvature,
    newton_condition,
    newton_error_bound,
    newton_noise_floor,
    start_gradient_bound,
)
from publicmoments.paper.radii import (
    oracle_radius,
    oracle_response_radius,
    predictor_reach,
    response_radius,
    truncation_radius,
)
from publicmoments.paper.ridge import AdaSSP, OracleRidge, PMTRidge
from publicmoments.paper.ridge_error import explicit_ridge_error_bound, ridge_error_bound
from publicmoments.paper.scales import (
    NoiseScales,
    glm_noise,
    gradient_noise_sd,
    logistic_noise,
    published_mu,
    ridge_noise,
    second_moment_noise_sd,
    total_mu,
)
from publicmoments.paper.settings import (
    GAUSSIAN_CONSTANT,
    GuidedSetting,
    OracleSetting,
    Setting,
    eigenvalue_floor,
    moment_bounds,
)
from publicmoments.paper.theory import (
    inverse_error_bound,
    is_robust,
    noise_norm_bound,
    required_rows,
    robustness_condition,
    simplified_inverse_error,
)
from publicmoments.paper.truncation import pmt

__all__ = [
    "GAUSSIAN_CONSTANT",
    "PMTGLM",
    "AdaSSP",
    "Condition",
    "GuidedSetting",
    "NoiseScales",
    "NoisyGradientDescent",
    "OracleLogisticRegression",
    "OracleRidge",
    "OracleSecondMoment",
    "OracleSetting",
    "PMTElasticNet",
    "PMTLogisticRegression",
    "PMTRidge",
    "PMTSecondMoment",
    "Robustness",
    "Setting",
    "eigenvalue_floor",
    "explicit_ridge_error_bound",
    "glm_noise",
    "gradient_noise_sd",
    "hessian_lipschitz",
    "inverse_error_bound",
    "is_convergent",
    "is_robust",
    "iterations",
    "iterations_to_floor",
    "logistic_curvature",
    "logistic_noise",
    "moment_bounds",
    "newton_condition",
    "newton_error_bound",
    "newton_noise_floor",
    "noise_norm_bound",
    "oracle_radius",
    "oracle_response_radius",
    "pmt",
    "predictor_reach",
    "published_mu",
    "required_rows",
    "response_radius",
    "ridge_error_bound",
    "ridge_noise",
    "robustness_condition",
    "second_moment_noise_sd",
    "simplified_inverse_error",
    "start_gradient_bound",
    "total_mu",
    "truncation_radius",
]
